import { Link } from "@tanstack/react-router";
import { Copyable } from "../../parts/copy.tsx";

/** For users without a granary: its purpose, and the two commands to start. */
export function NoBuilds() {
  return (
    <section className="empty">
      <h2>No builds yet</h2>
      <p>
        A granary is a cache on the machine that builds. It knows what builds of a commit asked for,
        and fetches all of it from this farm before the next one asks. Say where the farm is,
      </p>
      <Copyable text={`export GRANGE_SERVER=${location.origin}`} label="command" />
      <p>
        and put this before what you build with: it starts a granary when none runs. What the build
        had from where is a line here then.
      </p>
      <Copyable text="grange exec -- make" label="command" />
      <p>
        <Link to="/granary/help">What the pages of the granary tell</Link>
      </p>
    </section>
  );
}
