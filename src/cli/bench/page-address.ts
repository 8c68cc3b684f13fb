/** The address of a page of the farm; words of its query that are undefined are left out. */
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

/** The pages read `5.10` as a number, and the commit `98e123456789` as one without end; in quotes both are texts. */
function asText(value: string): string {
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

/** A shell or a terminal that finds links would take these for its own. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Ready to be pasted into a shell, too: with a query it stands in quotes. */
export function pageLine(
  serverUrl: string,
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const address = pageAddress(serverUrl, path, query);
  return `page: ${address.includes("?") ? `'${address}'` : address}`;
}
