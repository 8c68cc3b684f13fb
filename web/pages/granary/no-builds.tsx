import { Link } from "@tanstack/react-router";
import { Copyable } from "../../parts/copy.tsx";

/** For users without a granary: its purpose, and the two commands to start. */
export function NoBuilds() {
  return (
    <section className="empty">
      <h2>No builds yet</h2>
      <p>
        A granary is a cache on the machine that builds. Before a build of a commit, it fetches from
        this farm what earlier builds of the commit requested. Set the farm's address,
      </p>
      <Copyable text={`export GRANGE_SERVER=${location.origin}`} label="command" />
      <p>
        and put this before your build command: it starts a granary if none runs. This page then
        lists each build, with the sources of its results.
      </p>
      <Copyable text="grange exec -- make" label="command" />
      <p>
        <Link to="/granary/help">About the pages of the granary</Link>
      </p>
    </section>
  );
}
