/** Returns the address of a page of the farm; undefined parts of its query are left out. */
export function pageAddress(
  serverUrl: string,
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encoded(asText(value))}`],
  );
  const address = `${serverUrl.replace(/\/+$/, "")}/benchmarks${path.map((each) => `/${encoded(each)}`).join("")}`;
  return words.length === 0 ? address : `${address}?${words.join("&")}`;
}

/** The pages would read `5.10` as a number, and the commit `98e123456789` as infinity; in quotes both are texts. */
function asText(value: string): string {
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

/** A shell, or a terminal that detects links, would interpret these characters. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The line can be pasted into a shell, too: with a query it is quoted. */
export function pageLine(
  serverUrl: string,
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const address = pageAddress(serverUrl, path, query);
  return `page: ${address.includes("?") ? `'${address}'` : address}`;
}
