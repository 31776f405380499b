// The page of a package index that lists a package's files, as JSON or as HTML: most indexes have both,
// and some only the second.

export const ACCEPTED =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/** Return the address of a file that a page lists, undefined if it doesn't. `page` is the page's own. */
export function addressOf(
  file: string,
  text: string,
  type: string,
  page: string,
): string | undefined {
  const links = type.includes("json") ? linksInJson(text) : linksInHtml(text);
  for (const link of links) {
    const address = URL.canParse(link, page) ? new URL(link, page) : undefined;
    if (address !== undefined && nameIn(address) === file) {
      address.hash = ""; // only our own hash counts, not that of the index
      return address.href;
    }
  }
  return undefined;
}

function linksInJson(text: string): string[] {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch {
    return [];
  }
  const files = (page as { files?: unknown } | null)?.files;
  return (Array.isArray(files) ? files : [])
    .map((file) => (file as { url?: unknown } | null)?.url)
    .filter((url) => typeof url === "string");
}

function linksInHtml(text: string): string[] {
  return [...text.matchAll(/href\s?=\s?(?:"([^"]*)"|'([^']*)')/gi)].map(([, one, other]) =>
    (one ?? other ?? "").replaceAll("&amp;", "&"),
  );
}

function nameIn({ pathname }: URL): string {
  return decoded(pathname.slice(pathname.lastIndexOf("/") + 1));
}

/** Return a piece of an address without its escapes; as it is if they are none. */
export function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    return piece;
  }
}
