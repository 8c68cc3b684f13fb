import type { SavingsOfDay } from "#api/granary.ts";
import { bytesText } from "../../parts/bytes.ts";
import { durationText } from "../../parts/duration.ts";
import { countText, shareText } from "./words.ts";

/** A month in four figures. */
export function SavingsTiles({ days }: { readonly days: readonly SavingsOfDay[] }) {
  const sum = (of: (day: SavingsOfDay) => number) => days.reduce((all, day) => all + of(day), 0);
  const [asked, hits] = [sum((day) => day.asked), sum((day) => day.hits)];
  const prefetched = sum((day) => day.prefetched);
  const [transferred, wasted] = [sum((day) => day.transferredBytes), sum((day) => day.wastedBytes)];
  return (
    <div className="tiles">
      <Tile title="Work saved" figure={durationText(sum((day) => day.savedMs))}>
        the original execution time of all hits, summed over parallel steps; builds waited{" "}
        {durationText(sum((day) => day.waitedMs))} for them
      </Tile>
      <Tile title="Hits" figure={shareText(hits, asked)}>
        of {countText(asked, "result")} that{" "}
        {countText(
          sum((day) => day.builds),
          "build",
        )}{" "}
        asked for in {countText(days.length, "day")}
      </Tile>
      <Tile title="Prefetched" figure={shareText(prefetched, hits)}>
        of all hits were prefetched
        {prefetched < hits ? "; most others were local from earlier builds" : ""}
      </Tile>
      <Tile title="Unused" figure={shareText(wasted, transferred)}>
        of {bytesText(transferred)} were prefetched and not requested
      </Tile>
    </div>
  );
}

function Tile(props: {
  readonly title: string;
  readonly figure: string;
  readonly children: React.ReactNode;
}) {
  return (
    <section className="card tile">
      <h2>{props.title}</h2>
      <p className="figure number">{props.figure}</p>
      <p className="faint">{props.children}</p>
    </section>
  );
}
