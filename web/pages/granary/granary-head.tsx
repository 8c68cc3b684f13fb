import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** The header of each page of the granary, with links to the others. */
export function GranaryHead(props: {
  readonly title: ReactNode;
  readonly project?: string | undefined;
  readonly children?: ReactNode;
}) {
  const { title, project, children } = props;
  const search = project === undefined ? {} : { project };
  return (
    <header className="granary-head">
      <nav aria-label="Granary" className="granary-nav">
        <Link to="/granary" search={search} activeOptions={{ exact: true, includeSearch: false }}>
          Builds
        </Link>
        <Link to="/granary/indexes" search={search} activeOptions={{ includeSearch: false }}>
          Indexes
        </Link>
        <Link to="/granary/quarantine" search={search} activeOptions={{ includeSearch: false }}>
          Quarantine
        </Link>
        <Link to="/granary/help">Help</Link>
      </nav>
      <div className="row">
        <h1>{title}</h1>
        <span className="grow" />
        {children}
      </div>
    </header>
  );
}
