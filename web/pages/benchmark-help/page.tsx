import type { ReactNode } from "react";
import { Copyable } from "../../parts/copy.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { LabHead } from "../benchmarks/lab-head.tsx";
import "../benchmarks/benchmarks.css";

const words: readonly (readonly [string, ReactNode])[] = [
  ["suite", "What is measured and how: a file in .grange/bench that is pushed to the farm."],
  [
    "artifact",
    "A version of the toolchain that is measured. The main line is made of master artifacts in the order of their dates.",
  ],
  ["backend", "Which of an artifact’s parts does the work, where there are several."],
  [
    "case",
    "Benchmark, profile, scenario, backend and target together: what a figure is a figure of.",
  ],
  ["set", "A share of the benchmarks that one collector measures, so that several take turns."],
  ["request", "Somebody, or the clock, asks for an artifact to be measured."],
  [
    "job",
    "A part of a request that one collector does at once. Backfill jobs measure what the artifact before lacks; paired jobs run both in turn.",
  ],
  [
    "collector",
    "A machine that measures and does nothing else. Its fingerprint is a digest of all that may change a figure; figures of two fingerprints are never compared.",
  ],
];

const verdicts: readonly (readonly [string, string])[] = [
  ["regressed", "It got worse, by more than such figures scatter."],
  ["improved", "It got better, by more than such figures scatter."],
  ["no change", "Whatever changed is too small to matter, and this is known, not assumed."],
  [
    "undecided",
    "The figures do not suffice. Silence never means no change: more pairs would tell.",
  ],
  ["unlike machines", "Both are measured, but never on machines that may be compared."],
];

const commands: readonly (readonly [string, string])[] = [
  ["grange bench suite push", "bring the suites of .grange/bench to the farm"],
  ["grange collector add NAME --target linux-x64", "make a collector"],
  ["grange collector run NAME", "measure on this machine"],
  ["grange bench request 5.9.3 --suite typescript", "ask for an artifact"],
  ["grange bench status", "what is measured and what waits"],
  ["grange bench run --artifact 5.9.3", "measure here, without a server"],
  ["grange bench compare A B", "compare two that were measured here; with --server, on the farm"],
];

/** Words, verdicts, and how figures are judged. */
export function HelpPage() {
  usePageTitle("Help", "Benchmarks");
  return (
    <div className="page lab-page lab-help">
      <LabHead title="The benchmark lab" />
      <section>
        <h2>Words</h2>
        <dl className="facts">
          {words.map(([word, what]) => (
            <Entry key={word} word={word}>
              {what}
            </Entry>
          ))}
        </dl>
      </section>
      <section>
        <h2>Verdicts</h2>
        <dl className="facts">
          {verdicts.map(([word, what]) => (
            <Entry key={word} word={word}>
              {what}
            </Entry>
          ))}
        </dl>
        <p>
          A change is <em>relevant</em> when it is significant and not very small. Pages show
          relevant ones; “what is not relevant, too” shows all.
        </p>
      </section>
      <section>
        <h2>How a figure is judged</h2>
        <p>
          <strong>Exact</strong> figures, as a count of types, are judged by whether they differ.{" "}
          <strong>Deterministic</strong> ones, as instructions, scatter by some parts in a thousand:
          a fence is drawn around how far the case’s predecessors on the main line lay apart, and
          what lies outside is significant. The factor says how far outside.
        </p>
        <p>
          <strong>Noisy</strong> ones, as times, scatter by more than most changes: the least of
          some runs is a hint and no verdict. To judge them, processes of the artifact and of the
          one before are run in turn on one machine, in an order that chance draws, five pairs at
          first and more while it is not clear, up to twenty. One test gives the verdict and the
          bar, the interval that holds the change: a change is never told of a bar that touches
          nought; the shaded middle is what does not matter, known from comparing equal artifacts.
        </p>
        <p>
          Before a noisy change is called one, it is measured again independently, and the more
          cases are looked at, the more certain each must be.
        </p>
        <p>
          <strong>Steps</strong> are changes of a series’ level, found over many artifacts. Accept
          one that was meant: what follows is then judged by what came after it. Dismiss one that is
          none.
        </p>
      </section>
      <section>
        <h2>Commands</h2>
        <dl className="facts">
          {commands.map(([command, what]) => (
            <Entry key={command} word={<Copyable text={command} label="command" />}>
              {what}
            </Entry>
          ))}
        </dl>
      </section>
      <section>
        <h2>Keys</h2>
        <p>
          <kbd>j</kbd> <kbd>k</kbd> select a case, <kbd>Enter</kbd> opens it, <kbd>f</kbd> shows
          only regressions, <kbd>/</kbd> filters, <kbd>[</kbd> <kbd>]</kbd> go to the earlier and
          the later artifact. In a chart, arrow keys go from point to point, and <kbd>Enter</kbd>{" "}
          compares.
        </p>
      </section>
    </div>
  );
}

function Entry({ word, children }: { readonly word: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </>
  );
}
