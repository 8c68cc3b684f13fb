/** A value that differs, and where: `commands.0`. Undefined on a side that lacks it. */
interface ChangedPart {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The differences of two definitions: old values are struck out, followed by the new ones. */
export function ChangedParts({ parts }: { readonly parts: readonly ChangedPart[] }) {
  return (
    <ul>
      {parts.map(({ path, before, after }) => (
        <li key={path}>
          <code>{path}</code> {before === undefined ? null : <del>{text(before)}</del>}
          {before === undefined || after === undefined ? null : " → "}
          {after === undefined ? null : <ins>{text(after)}</ins>}
        </li>
      ))}
    </ul>
  );
}

const longest = 300;

function text(value: unknown): string {
  const json = typeof value === "string" ? value : JSON.stringify(value);
  return json.length > longest ? `${json.slice(0, longest)}…` : json;
}
