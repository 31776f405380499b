// The address of a page that an agent asks the user to open.

import { Unreadable } from "./schema.ts";

export interface Page {
  /** The address, as it is opened. */
  address: string;
  /**
   * The host with its port, in ASCII: a name in another script can't look like a known one. Of a long
   * one only the end, which says whose it is.
   */
  host: string;
  /** What the user should know about the address. */
  warnings: string[];
}

/** The most characters of a host that a list shows at its usual width. */
const HOST_CHARACTERS = 60;

/** Read an address. Only pages of the web can be opened. */
export function pageOf(address: unknown): Page {
  if (typeof address !== "string" || !URL.canParse(address)) {
    throw new Unreadable("its address can't be read");
  }
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new Unreadable(`its address isn't that of a web page: it begins with "${url.protocol}"`);
  }
  const warnings = [
    ...(url.protocol === "http:" ? ["not encrypted"] : []),
    ...(/(^|\.)xn--/.test(url.hostname) ? ["the name has letters that aren't ASCII"] : []),
    ...(url.username || url.password ? ["the address holds a user name before the host"] : []),
  ];
  const { host } = url;
  const end = host.length > HOST_CHARACTERS ? `…${host.slice(1 - HOST_CHARACTERS)}` : host;
  return { address: url.href, host: end, warnings };
}
