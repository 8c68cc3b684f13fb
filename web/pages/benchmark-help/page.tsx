import type { ReactNode } from "react";
import { Copyable } from "../../parts/copy.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { LabHead } from "../benchmarks/lab-head.tsx";
import "../benchmarks/benchmarks.css";

const words: readonly (readonly [string, ReactNode])[] = [
  [
    "suite",
    "Describes what is measured and how: a file in .grange/bench that is pushed to the farm.",
  ],
  [
    "artifact",
    "A version of the toolchain that is measured. The main line consists of the master artifacts in the order of their dates.",
  ],
  ["backend", "Selects the part of an artifact that does the work, if there are several."],
  [
    "case",
    "Benchmark, profile, scenario, backend and target together: a figure belongs to one case.",
  ],
  ["set", "A part of the benchmarks. Several collectors can divide the sets among them."],
  ["request", "Asks the farm to measure an artifact. A person or a schedule makes it."],
  [
    "job",
    "A part of a request that one collector does without interruption. A backfill job measures missing cases of the previous artifact. A paired job runs both artifacts in turn.",
  ],
  [
    "collector",
    "A machine that only measures. Its fingerprint is a digest of everything that may change a figure; figures of different fingerprints are never compared.",
  ],
];

const verdicts: readonly (readonly [string, string])[] = [
  ["regressed", "The figure became worse by more than the noise."],
  ["improved", "The figure became better by more than the noise."],
  ["no change", "The measurements show that any change is too small to be relevant."],
  [
    "undecided",
    "There are too few figures for a verdict. Undecided does not mean unchanged: measure more pairs.",
  ],
  ["unlike machines", "Both artifacts were measured, but not on comparable machines."],
];

const commands: readonly (readonly [string, string])[] = [
  ["grange bench suite push", "push the suites of .grange/bench to the farm"],
  ["grange collector add NAME --target linux-x64", "make a collector"],
  ["grange collector run NAME", "measure on this machine"],
  ["grange bench request 5.9.3 --suite typescript", "request a measurement of an artifact"],
  ["grange bench status", "show running measurements and the queue"],
  ["grange bench run --artifact 5.9.3", "measure here, without a server"],
  [
    "grange bench compare A B",
    "compare two artifacts that were measured here; with --server, on the farm",
  ],
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
          relevant changes. “Also irrelevant changes” shows all.
        </p>
      </section>
      <section>
        <h2>How a figure is judged</h2>
        <p>
          <strong>Exact</strong> figures, such as a count of types, are compared for equality.{" "}
          <strong>Deterministic</strong> ones, such as instructions, vary by some parts in a
          thousand: the threshold follows from the differences between the case’s predecessors on
          the main line, and a change above it is significant. The factor is the change divided by
          the threshold.
        </p>
        <p>
          <strong>Noisy</strong> ones, such as times, vary by more than most changes: the minimum of
          some runs is a hint and not a verdict. To judge them, processes of the artifact and of the
          one before run in turn on one machine, in a random order: five pairs at first and more
          while the result is not clear, up to twenty. One test gives the verdict and the bar. The
          bar is the confidence interval of the change: if it touches zero, there is no change. The
          shaded middle contains changes that do not matter; its width comes from comparisons of
          equal artifacts.
        </p>
        <p>
          A noisy change is reported only after a second, independent measurement has confirmed it.
          The more cases are compared, the more certain each verdict must be.
        </p>
        <p>
          <strong>Steps</strong> are changes of a series’ level, found over many artifacts. Accept
          an intended step: later figures are then compared with those after it. Dismiss a false
          one.
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
          the later artifact. In a chart, arrow keys move from point to point, and <kbd>Enter</kbd>{" "}
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
