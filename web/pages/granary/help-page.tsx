import { Copyable } from "../../parts/copy.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { GranaryHead } from "./granary-head.tsx";
import { becauseAdvice, becauseWords, sourceSentences, sources, sourceWords } from "./words.ts";
import "./granary.css";

const reasons = Object.keys(becauseWords) as (keyof typeof becauseWords)[];

/** Explains the words and figures of these pages, and the commands. */
export function GranaryHelpPage() {
  usePageTitle("Help", "Granary");
  return (
    <div className="page granary-page granary-help">
      <GranaryHead title="What these pages tell" />
      <p>
        A granary is a cache on the machine that builds, shared by all of its build tools. When a
        build of a commit ends, it tells this farm what the build asked for: that is the commit’s
        index. Before the next build of that commit, or of one after it, all that its index names is
        fetched in one go, so that it is there when the build asks. If the farm is away, builds go
        on, and make what they lack.
      </p>
      <h2>To begin</h2>
      <p>
        <Copyable text={`export GRANGE_SERVER=${location.origin}`} label="command" /> on the machine
        that builds, then <Copyable text="grange exec -- make" label="command" /> in a checkout. It
        starts a granary when none runs; <code>grange granary status</code> says which farm one is
        in front of, and <code>grange granary stop</code> ends it.
      </p>
      <h2>Where a result came from</h2>
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
      <h2>Why it was late, or not to be had</h2>
      <dl className="facts">
        {reasons.map((because) => (
          <Pair key={because} name={becauseWords[because]} value={becauseAdvice[because]} />
        ))}
      </dl>
      <h2>Figures</h2>
      <dl className="facts">
        <Pair
          name="work saved"
          value="What making all hits had taken when they were made, as far as whoever made them said. Steps that run at once count each, so this is work rather than waiting: with four at once, builds are shorter by about a quarter of it. It was measured once, also on a machine that was busy with other things."
        />
        <Pair
          name="waited"
          value="All waits of a build for its granary, together: they may overlap."
        />
        <Pair
          name="for nothing"
          value="Bytes that were fetched ahead and that the build never asked for."
        />
        <Pair
          name="early by"
          value="How long a result was there before the build asked for it. Little means: the transfer was only just ahead."
        />
        <Pair
          name="whole"
          value="A build said that it had asked for everything. Indexes of others may lack what that build left out."
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
