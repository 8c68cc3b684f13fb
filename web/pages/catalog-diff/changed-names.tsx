import type { CatalogDiff } from "#api/catalog.ts";
import { ChangedParts } from "../../parts/changed-parts.tsx";

const mostShown = 500;

interface Props {
  readonly title: string;
  readonly changes: CatalogDiff["jobs"];
}

/** Added, removed and changed names; for a change, each differing part. */
export function ChangedNames({ title, changes: { added, removed, changed } }: Props) {
  if (added.length + removed.length + changed.length === 0) return null;
  const names = [
    ...removed.map((name) => ({ name, sign: "removed", parts: [] })),
    ...added.map((name) => ({ name, sign: "added", parts: [] })),
    ...changed.map(({ name, parts }) => ({ name, sign: "changed", parts })),
  ];
  return (
    <section>
      <h2>
        {title}{" "}
        <span className="faint number">
          {added.length} added, {removed.length} removed, {changed.length} changed
        </span>
      </h2>
      <ul className="diff-lines">
        {names.slice(0, mostShown).map(({ name, sign, parts }) => (
          <li key={`${sign} ${name}`} className={sign}>
            {name}
            {parts.length === 0 ? null : <ChangedParts parts={parts} />}
          </li>
        ))}
      </ul>
      {names.length > mostShown ? (
        <p className="faint">and {names.length - mostShown} more</p>
      ) : null}
    </section>
  );
}
