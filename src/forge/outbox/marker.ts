/**
 * An invisible beginning of each comment of the farm, which identifies the comment after a crash.
 *
 * Only the very beginning counts, and only in the farm's own comments, because comments of others may be quoted further
 * down.
 */
export function withMarker(key: string, body: string, isUntilReport = false): string {
  const until = isUntilReport ? untilReport : "";
  return `${markerOf(key)}${until}\n${body}`;
}

const untilReport = "<!-- until report -->";

export function hasMarker(body: string, key: string): boolean {
  return body.startsWith(markerOf(key));
}

/** Returns whether it is an answer that a report makes superfluous. */
export function isUntilReport(body: string): boolean {
  return /^<!-- grange [^\n]{1,300}? --><!-- until report -->\n/.test(asSent(body));
}

/** Some forges return line breaks in the form that browsers send. */
export function asSent(body: string): string {
  return body.replaceAll("\r\n", "\n");
}

function markerOf(key: string): string {
  // Two dashes would end the HTML comment.
  return `<!-- grange ${key.replaceAll(/[^A-Za-z0-9/_.]/g, (sign) => `%${sign.codePointAt(0)?.toString(16)}`)} -->`;
}
