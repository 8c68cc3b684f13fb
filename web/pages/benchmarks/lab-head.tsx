import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** The header of each page of the lab, with links to the others. */
export function LabHead({
  title,
  suite,
  children,
}: {
  readonly title: ReactNode;
  /** Passed on to the other pages. */
  readonly suite?: string | undefined;
  readonly children?: ReactNode;
}) {
  const search = suite === undefined ? {} : { suite };
  return (
    <header className="lab-head">
      <nav aria-label="Benchmarks" className="lab-nav">
        <Link
          to="/benchmarks"
          search={search}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          Status
        </Link>
        <Link to="/benchmarks/compare" search={search} activeOptions={{ includeSearch: false }}>
          Compare
        </Link>
        <Link to="/benchmarks/graphs" search={search} activeOptions={{ includeSearch: false }}>
          Graphs
        </Link>
        <Link to="/benchmarks/searches" search={search} activeOptions={{ includeSearch: false }}>
          Step searches
        </Link>
        <Link to="/benchmarks/help">Help</Link>
      </nav>
      <div className="row lab-title">
        <h1>{title}</h1>
        <span className="grow" />
        {children}
      </div>
    </header>
  );
}
