import { durationText } from "#core/duration-text.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { FetchAheadAnswer, GranaryStatus } from "#granary/protocol/answers.ts";

export function statusLines(status: GranaryStatus, now: Date): string[] {
  const { store, outbox, farm, builds } = status;
  const lines = [
    `granary ${status.version}, process ${status.pid}, port ${status.port}, in ${status.directory}`,
    `store: ${store.results} results, ${store.blobs} blobs, ${memorySizeText(store.bytes)} of ${memorySizeText(store.limitBytes)}`,
    farm === null ? "farm: none; results stay on this machine" : farmLine(farm),
  ];
  const waiting = outbox.results + outbox.indexes + outbox.reports;
  if (waiting > 0) {
    const what = `${outbox.results} results (${memorySizeText(outbox.bytes)}), ${outbox.indexes} indexes, ${outbox.reports} reports`;
    lines.push(`to be sent: ${what}${outbox.trouble === undefined ? "" : `; ${outbox.trouble}`}`);
  }
  for (const { project, command, startedAt, id } of builds) {
    const since = durationText(now.getTime() - Date.parse(startedAt));
    lines.push(`build ${id} of ${project}, for ${since}: ${command}`);
  }
  return lines;
}

function farmLine(farm: NonNullable<GranaryStatus["farm"]>): string {
  if (farm.away) return `farm: ${farm.server} does not answer; builds go on without it`;
  const measured =
    farm.roundTripMs === undefined || farm.bytesPerSecond === undefined
      ? ""
      : `, ${durationText(farm.roundTripMs)} away, ${memorySizeText(farm.bytesPerSecond)}/s`;
  return `farm: ${farm.server}${measured}`;
}

export function aheadLines(ahead: FetchAheadAnswer, dryRun: boolean): string[] {
  if (ahead.indexes.length === 0) return ["no index of this commit, or of one before it"];
  const lines = ahead.indexes.map(
    ({ source, commit, distance, entries }) =>
      `${source === "ancestor" ? `ancestor, ${distance} away` : source}: ${commit.slice(0, 12)}, ${entries} results`,
  );
  const what = `${ahead.results} results, ${memorySizeText(ahead.bytes)}`;
  if (ahead.results === 0) return [...lines, "all of it is here"];
  return [...lines, dryRun ? `would fetch ${what}` : `fetching ${what}`];
}
