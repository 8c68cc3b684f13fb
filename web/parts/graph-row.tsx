import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { GraphSummary } from "#api/graph.ts";
import { CountsBar } from "./counts-bar.tsx";
import { CustomisedMark } from "./customised-mark.tsx";
import { StateIcon } from "./state.tsx";
import { Ago, Elapsed } from "./times.tsx";

/** A graph as a line of a list; `children` are additional facts next to its commit. */
export function GraphRow(props: { readonly graph: GraphSummary; readonly children: ReactNode }) {
  const { graph, children } = props;
  return (
    <li>
      <StateIcon state={graph.state} />
      <span className="what">
        <Link className="main" to="/graphs/$id" params={{ id: graph.id }}>
          {graph.subject}
        </Link>
        <span className="faint">
          <code>{graph.commit.slice(0, 8)}</code> · {children}
          <CustomisedMark customised={graph.customised} />
        </span>
      </span>
      <CountsBar counts={graph.counts} jobs={graph.jobs} />
      <span className="number faint">{graph.jobs} jobs</span>
      <Elapsed from={graph.createdAt} to={graph.finishedAt} idleMs={graph.idleMs} />
      <Ago time={graph.createdAt} />
    </li>
  );
}
