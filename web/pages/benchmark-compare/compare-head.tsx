import { Link, useNavigate } from "@tanstack/react-router";
import type { Comparison } from "#api/benchmark-comparison.ts";
import { Copyable } from "../../parts/copy.tsx";
import { useHotkeys } from "../../parts/hotkeys.ts";
import type { CompareSearch } from "../benchmarks/search.ts";
import { PairChooser } from "./pair-chooser.tsx";

/** The names of the two artifacts, and links to their neighbours. */
export function CompareHead(props: {
  readonly comparison: Comparison;
  readonly search: CompareSearch;
}) {
  const { comparison, search } = props;
  const { before, after, contiguous, neighbours, suite } = comparison;
  const navigate = useNavigate();
  // Before and after move together, as one window along the line.
  const earlier =
    neighbours.earlier === null
      ? undefined
      : { ...search, before: neighbours.earlier, after: before.tag };
  const later =
    neighbours.later === null
      ? undefined
      : { ...search, before: after.tag, after: neighbours.later };
  const goTo = (next: CompareSearch | undefined) =>
    next === undefined
      ? undefined
      : () => void navigate({ to: "/benchmarks/compare", search: next });
  useHotkeys({ "[": goTo(earlier), "]": goTo(later) });
  return (
    <section aria-label="What is compared" className="compare-head">
      <div className="row lab-wrap">
        {earlier === undefined ? (
          <span className="faint">nothing earlier</span>
        ) : (
          <Link to="/benchmarks/compare" search={earlier} title="Earlier ([)">
            ← {earlier.before}
          </Link>
        )}
        <Side of={before} label="Before" />
        <Side of={after} label="After" />
        {later === undefined ? (
          <span className="faint">nothing later</span>
        ) : (
          <Link to="/benchmarks/compare" search={later} title="Later (])">
            {later.after} →
          </Link>
        )}
        <span className="grow" />
        <span className="faint">{suite}</span>
      </div>
      {contiguous ? null : (
        <p className="compare-warning">
          <strong>Not adjacent:</strong> {after.tag} does not follow {before.tag} directly on the
          main line. Any artifact between them may have caused a change.
        </p>
      )}
      <details>
        <summary>Compare others</summary>
        <PairChooser
          key={`${before.tag} ${after.tag}`}
          suite={suite}
          before={before.tag}
          after={after.tag}
        />
      </details>
    </section>
  );
}

function Side({ of, label }: { readonly of: Comparison["before"]; readonly label: string }) {
  return (
    <span className="compare-side">
      <span className="faint">{label}</span>
      <strong>{of.tag}</strong>
      <time dateTime={of.datedAt} className="faint">
        {of.datedAt.slice(0, 10)}
      </time>
      {of.commit === null ? null : (
        <Copyable
          text={of.commit}
          shown={of.commit.startsWith(of.tag) ? "commit" : of.commit.slice(0, 10)}
          label="commit"
        />
      )}
    </span>
  );
}
