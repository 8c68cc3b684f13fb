import { Copyable } from "../../parts/copy.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { GranaryHead } from "./granary-head.tsx";
import { becauseAdvice, lateReasonTexts, sourceSentences, sources, sourceWords } from "./words.ts";
import "./granary.css";

const reasons = Object.keys(lateReasonTexts) as (keyof typeof lateReasonTexts)[];

/** Explains the words and figures of these pages, and the commands. */
export function GranaryHelpPage() {
  usePageTitle("Help", "Granary");
  return (
    <div className="page granary-page granary-help">
      <GranaryHead title="About these pages" />
      <p>
        A granary is a cache on the machine that builds, shared by all of its build tools. When a
        build of a commit ends, the granary sends the list of requested results to this farm. This
        list is the commit’s index. Before the next build of that commit, or of a later one, the
        granary prefetches all results in the index, so that they are on the machine when the build
        requests them. If the farm is not available, builds continue and make the missing results
        themselves.
      </p>
      <h2>To begin</h2>
      <p>
        <Copyable text={`export GRANGE_SERVER=${location.origin}`} label="command" /> on the machine
        that builds, then <Copyable text="grange exec -- make" label="command" /> in a checkout.
        This starts a granary if none is running; <code>grange granary status</code> shows its farm,
        and <code>grange granary stop</code> ends it.
      </p>
      <h2>Sources of a result</h2>
      <dl className="facts">
        {sources.map((source) => (
          <Pair
            key={source}
            name={
              <>
                <span className={`swatch of-${source}`} aria-hidden="true" /> {sourceWords[source]}
              </>
            }
            value={sourceSentences[source]}
          />
        ))}
      </dl>
      <h2>Why a result was late or missing</h2>
      <dl className="facts">
        {reasons.map((because) => (
          <Pair key={because} name={lateReasonTexts[because]} value={becauseAdvice[because]} />
        ))}
      </dl>
      <h2>Figures</h2>
      <dl className="facts">
        <Pair
          name="work saved"
          value="The sum of the original execution times of all hits, as far as they were reported. This is work, not waiting time: with four parallel steps, a build is shorter by about a quarter of it. Each time was measured once, possibly on a busy machine."
        />
        <Pair
          name="waited"
          value="The sum of all times that a build waited for its granary. These times may overlap."
        />
        <Pair name="for nothing" value="Prefetched bytes that the build did not request." />
        <Pair
          name="early by"
          value="The time between the arrival of a result and its request. A small value means that the result arrived only just in time."
        />
        <Pair
          name="whole"
          value="The build reported that it requested all its results. Other indexes may be incomplete."
        />
      </dl>
    </div>
  );
}

function Pair(props: { readonly name: React.ReactNode; readonly value: string }) {
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.value}</dd>
    </>
  );
}
