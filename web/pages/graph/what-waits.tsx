import { Link } from "@tanstack/react-router";
import type { Graph } from "#api/graph.ts";
import { shownText } from "../../parts/shown-text.ts";
import { StateIcon } from "../../parts/state.tsx";

/** A graph has few breakpoints; more than these are found by their state. */
const mostShown = 5;

/** The breakpoints that wait for a person, each with a link to the page on which it continues or stops. */
export function WhatWaits({ graph }: { readonly graph: Graph }) {
  const waiting = graph.jobList.filter(
    ({ kind, state }) => kind === "breakpoint" && state === "waiting",
  );
  if (waiting.length === 0) return null;
  return (
    <section className="what-waits" aria-label="What waits for a person">
      <StateIcon state="waiting" silent /> Waits for a person:{" "}
      {waiting.slice(0, mostShown).map(({ name }, index) => (
        <span key={name}>
          {index === 0 ? "" : ", "}
          <Link to="/graphs/$id/jobs/$name" params={{ id: graph.id, name }}>
            {shownText(name)}
          </Link>
        </span>
      ))}
      {waiting.length > mostShown ? ` and ${waiting.length - mostShown} more` : ""}. Open the job to
      let the graph continue, or to stop it.
    </section>
  );
}
