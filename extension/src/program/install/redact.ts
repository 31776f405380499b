// Addresses of package indexes may hold a name and a password; logs and messages may not.

/** Return the text with `***` for the credentials of each address in it. */
export function withoutCredentials(text: string): string {
  return text.replace(/:\/\/[^\s/]*@/g, "://***@");
}
