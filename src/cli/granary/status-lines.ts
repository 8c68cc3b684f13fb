import { durationText } from "#core/duration-text.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { FetchAheadAnswer, GranaryStatus } from "#granary/protocol/answers.ts";
import { diskCostText } from "./saved-lines.ts";

/** `configured`: the farm in this shell's GRANGE_SERVER. */
export function statusLines(status: GranaryStatus, now: Date, configured?: string): string[] {
  const { store, outbox, farm, builds } = status;
  const lines = [
    `granary ${status.version}, process ${status.pid}, port ${status.port}, in ${status.directory}`,
    `store: ${store.results} results, ${store.blobs} blobs, ${memorySizeText(store.bytes)} of ${memorySizeText(store.limitBytes)}${onDisk(store)}`,
    ...troubleLine(store.diskTrouble, now),
    farm === null ? "farm: none; results are kept on this machine" : farmLine(farm),
  ];
  if (configured !== undefined && !isSame(configured, farm?.server)) {
    lines.push(
      `GRANGE_SERVER is ${configured}, which takes effect when a granary starts: run \`grange granary stop\`; the next build starts one with this farm`,
    );
  }
  const waiting = outbox.results + outbox.indexes + outbox.reports;
  if (waiting > 0) {
    const what = `${counted(outbox.results, "result")} (${memorySizeText(outbox.bytes)}), ${counted(outbox.indexes, "index", "indexes")}, ${counted(outbox.reports, "report")}`;
    lines.push(`to be sent: ${what}${outbox.trouble === undefined ? "" : `; ${outbox.trouble}`}`);
  }
  const { setAside } = outbox;
  if (setAside !== undefined) {
    const what = `${counted(setAside.results, "result")}, ${counted(setAside.indexes, "index", "indexes")}, ${counted(setAside.reports, "report")}`;
    lines.push(
      `of these, set aside: ${what}, which the farm does not accept (${setAside.because}); sending is tried again each hour, and when the granary starts`,
    );
  }
  for (const { project, command, startedAt, id } of builds) {
    const since = durationText(now.getTime() - Date.parse(startedAt));
    lines.push(`build ${id} of ${project}, for ${since}: ${command}`);
  }
  return lines;
}

/**
 * Returns the size on disk. A part of the packs is unused, and is removed when it is most of a pack, or by `grange
 * granary trim`.
 */
function onDisk({ diskBytes }: GranaryStatus["store"]): string {
  return diskBytes === undefined ? "" : `; on disk ${memorySizeText(diskBytes)}`;
}

function troubleLine(trouble: GranaryStatus["store"]["diskTrouble"], now: Date): string[] {
  if (trouble === undefined) return [];
  const since = durationText(now.getTime() - Date.parse(trouble.lastAt));
  return [
    `disk: ${diskCostText(trouble)} since the granary was started, the last ${since} ago: ${trouble.because}; builds still get the results that are here`,
  ];
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function isSame(one: string, other: string | undefined): boolean {
  if (other === undefined) return false;
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}

function farmLine(farm: NonNullable<GranaryStatus["farm"]>): string {
  if (farm.away) {
    const how = farm.because === undefined ? "" : ` (${farm.because})`;
    return `farm: ${farm.server} does not answer correctly${how}; builds continue without it`;
  }
  const measured =
    farm.roundTripMs === undefined || farm.bytesPerSecond === undefined
      ? ""
      : `, ${durationText(farm.roundTripMs)} away, ${memorySizeText(farm.bytesPerSecond)}/s`;
  return `farm: ${farm.server}${measured}`;
}

export function aheadLines(
  ahead: FetchAheadAnswer,
  farm: GranaryStatus["farm"],
  dryRun: boolean,
): string[] {
  if (ahead.indexes.length === 0) {
    if (farm === null) return ["this granary has no farm to fetch from"];
    if (farm.away) {
      return [`${farm.server} does not answer; see \`grange granary status\``];
    }
    return ["there is no index of this commit, or of an earlier one"];
  }
  const lines = ahead.indexes.map(
    ({ source, commit, distance, entries }) =>
      `${source === "ancestor" ? `ancestor, ${distance} away` : source}: ${commit.slice(0, 12)}, ${entries} results`,
  );
  const what = `${ahead.results} results, ${memorySizeText(ahead.bytes)}`;
  if (ahead.results === 0) return [...lines, "all results are here"];
  return [...lines, dryRun ? `would fetch ${what}` : `fetching ${what}`];
}
