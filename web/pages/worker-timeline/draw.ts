import type { WorkerTimeline } from "#api/worker-timeline.ts";
import { ageText, type TimeScale, tickAges } from "./time-scale.ts";

/** The height of a lane, and of a worker's head above its lanes, in CSS pixels. */
const laneHeight = 12;
const headHeight = 20;
const axisHeight = 22;

/** The first row of each worker, in pixels from the top, and the height of all. */
interface Rows {
  readonly tops: readonly number[];
  readonly height: number;
}

export function rowsOf({ workers }: WorkerTimeline): Rows {
  const tops: number[] = [];
  let height = axisHeight;
  for (const { lanes } of workers) {
    tops.push(height);
    height += headHeight + lanes * laneHeight + 4;
  }
  return { tops, height };
}

/** Returns the index of the run at a place, or undefined. A run is at least three pixels wide for the pointer. */
export function runAt(
  { runs }: WorkerTimeline,
  rows: Rows,
  scale: TimeScale,
  x: number,
  y: number,
): number | undefined {
  const found = runs.execution.findLastIndex((_, n) => {
    const top = topOf(rows, runs.worker[n], runs.lane[n]);
    if (y < top || y >= top + laneHeight) return false;
    return x >= scale.xOf(runs.leasedMs[n] ?? 0) - 1 && x <= scale.xOf(runs.endedMs[n] ?? 0) + 1;
  });
  return found === -1 ? undefined : found;
}

function topOf({ tops }: Rows, worker = 0, lane = 0): number {
  return (tops[worker] ?? 0) + headHeight + lane * laneHeight;
}

interface Picture {
  readonly timeline: WorkerTimeline;
  readonly rows: Rows;
  readonly scale: TimeScale;
  readonly part: { readonly fromMs: number; readonly toMs: number };
  readonly nowMs: number;
  readonly width: number;
  readonly height: number;
  readonly scrollTop: number;
  readonly pixelRatio: number;
  /** The run under the pointer. */
  readonly marked: number | undefined;
  /** A selected range of pixels, while the user drags. */
  readonly dragged: readonly [number, number] | undefined;
}

/**
 * Draws the visible part of the timeline.
 *
 * Causes differ by shape and not only by colour: no work is a thin line, draining a half bar, lost a hatched one.
 */
export function draw(canvas: HTMLCanvasElement, picture: Picture): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height, pixelRatio, scrollTop, dragged } = picture;
  canvas.width = Math.round(width * pixelRatio);
  canvas.height = Math.round(height * pixelRatio);
  context.scale(pixelRatio, pixelRatio);
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(`--${name}`);
  context.font = `12px ${style.fontFamily}`;
  context.textBaseline = "middle";
  context.save();
  context.translate(0, -scrollTop);
  drawGaps(context, picture, colour);
  drawRuns(context, picture, colour);
  drawNames(context, picture, colour);
  context.restore();
  drawAxis(context, picture, colour);
  if (dragged !== undefined) {
    context.fillStyle = colour("running");
    context.globalAlpha = 0.2;
    context.fillRect(Math.min(...dragged), 0, Math.abs(dragged[1] - dragged[0]), height);
    context.globalAlpha = 1;
  }
}

type Colour = (name: string) => string;

function isVisible({ scrollTop, height }: Picture, top: number, tall: number): boolean {
  return top + tall >= scrollTop && top <= scrollTop + height;
}

function drawGaps(context: CanvasRenderingContext2D, picture: Picture, colour: Colour): void {
  const { gaps } = picture.timeline;
  const hatched = hatch(context, colour("failed"));
  for (const [n, cause] of gaps.cause.entries()) {
    const top = topOf(picture.rows, gaps.worker[n], gaps.lane[n]);
    if (!isVisible(picture, top, laneHeight)) continue;
    const x = picture.scale.xOf(gaps.fromMs[n] ?? 0);
    const wide = picture.scale.xOf(gaps.toMs[n] ?? 0) - x;
    if (x + wide < 0 || x > picture.width) continue;
    switch (cause) {
      case "no work":
        context.fillStyle = colour("line-strong");
        context.fillRect(x, top + laneHeight / 2 - 0.5, wide, 1);
        break;
      case "draining":
        context.fillStyle = colour("queued");
        context.fillRect(x, top + laneHeight / 2 - 2, wide, 4);
        break;
      case "lost":
        context.fillStyle = hatched ?? colour("failed");
        context.fillRect(x, top + 2, wide, laneHeight - 4);
        break;
    }
  }
}

function drawRuns(context: CanvasRenderingContext2D, picture: Picture, colour: Colour): void {
  const { runs } = picture.timeline;
  const colours = {
    succeeded: colour("succeeded"),
    failed: colour("failed"),
    cancelled: colour("cancelled"),
    running: colour("running"),
    input: colour("ready"),
  };
  for (const [n, outcome] of runs.outcome.entries()) {
    const top = topOf(picture.rows, runs.worker[n], runs.lane[n]) + 1;
    if (!isVisible(picture, top, laneHeight)) continue;
    const ended = runs.endedMs[n] ?? 0;
    const leased = picture.scale.xOf(runs.leasedMs[n] ?? 0);
    const started = picture.scale.xOf(runs.startedMs[n] ?? ended);
    const end = picture.scale.xOf(ended);
    if (end < 0 || leased > picture.width) continue;
    const tall = laneHeight - 2;
    context.fillStyle = colours.input;
    context.fillRect(leased, top + tall / 2, Math.max(0, started - leased), tall / 2);
    context.fillStyle =
      outcome === null
        ? colours.running
        : outcome === "succeeded" || outcome === "cancelled"
          ? colours[outcome]
          : colours.failed;
    // Narrower than a pixel, it would be a faint shade.
    const wide = Math.max(end - started - (end - started > 3 ? 1 : 0), 1);
    context.fillRect(started, top, wide, tall);
    if (n === picture.marked) {
      context.strokeStyle = colour("text");
      context.lineWidth = 2;
      context.strokeRect(leased - 1, top - 1, Math.max(end - leased, 1) + 2, tall + 2);
    }
  }
}

function drawNames(context: CanvasRenderingContext2D, picture: Picture, colour: Colour): void {
  context.fillStyle = colour("text");
  for (const [n, { name }] of picture.timeline.workers.entries()) {
    const top = picture.rows.tops[n] ?? 0;
    if (isVisible(picture, top, headHeight)) {
      context.fillText(name, 2, top + headHeight / 2 + 2, picture.width - 4);
    }
  }
}

function drawAxis(context: CanvasRenderingContext2D, picture: Picture, colour: Colour): void {
  const { scale, part, nowMs, width, height } = picture;
  context.fillStyle = colour("surface");
  context.fillRect(0, 0, width, axisHeight - 2);
  for (const age of tickAges(scale, part, nowMs, 90)) {
    const x = scale.xOf(nowMs - age);
    context.fillStyle = colour("line");
    context.fillRect(Math.round(x), axisHeight - 6, 1, height);
    context.fillStyle = colour("faint");
    context.textAlign = x > width - 45 ? "right" : x < 45 ? "left" : "center";
    context.fillText(ageText(age), Math.min(Math.max(x, 2), width - 2), axisHeight / 2 - 2);
  }
  context.textAlign = "left";
}

function hatch(context: CanvasRenderingContext2D, stroke: string): CanvasPattern | null {
  const tile = document.createElement("canvas");
  tile.width = 6;
  tile.height = 6;
  const lines = tile.getContext("2d");
  if (lines === null) return null;
  lines.strokeStyle = stroke;
  lines.beginPath();
  for (const at of [-6, 0, 6]) {
    lines.moveTo(at, 6);
    lines.lineTo(at + 6, 0);
  }
  lines.stroke();
  return context.createPattern(tile, "repeat");
}
