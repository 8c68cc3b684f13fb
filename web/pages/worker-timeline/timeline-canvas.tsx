import { useNavigate } from "@tanstack/react-router";
import { useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { WorkerTimeline } from "#api/worker-timeline.ts";
import { durationText } from "../../parts/duration.ts";
import { shownText } from "../../parts/shown-text.ts";
import { useWidth } from "../../parts/use-width.ts";
import { draw, rowsOf, runAt } from "./draw.ts";
import type { scales } from "./search.ts";
import { timeScale } from "./time-scale.ts";

const mostHeight = 560;
/** A shorter move of the pressed pointer is a click. */
const dragPixels = 5;

interface Part {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Runs and gaps on a canvas that shows the visible rows; a click opens a run, and dragging enlarges a part. */
export function TimelineCanvas(props: {
  readonly timeline: WorkerTimeline;
  readonly kind: (typeof scales)[number];
}) {
  const { timeline, kind } = props;
  const { element, width, isMeasured } = useWidth<HTMLDivElement>(800);
  const canvas = useRef<HTMLCanvasElement>(null);
  const navigate = useNavigate();
  const theme = useTheme();
  const [scrollTop, setScrollTop] = useState(0);
  const [marked, setMarked] = useState<number>();
  const [zoomed, setZoomed] = useState<Part>();
  const [dragged, setDragged] = useState<readonly [number, number]>();

  const nowMs = Date.parse(timeline.to) - Date.parse(timeline.from);
  const part = useMemo(() => zoomed ?? { fromMs: 0, toMs: nowMs }, [zoomed, nowMs]);
  const rows = useMemo(() => rowsOf(timeline), [timeline]);
  const height = Math.min(mostHeight, rows.height);
  const scale = useMemo(() => timeScale(kind, part, nowMs, width), [kind, part, nowMs, width]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes what the same values look like
  useLayoutEffect(() => {
    // Before it is measured, everything would be drawn twice.
    if (canvas.current === null || !isMeasured) return;
    draw(canvas.current, {
      timeline,
      rows,
      scale,
      part,
      nowMs,
      width,
      height,
      scrollTop,
      pixelRatio: window.devicePixelRatio,
      marked,
      dragged,
    });
  }, [
    timeline,
    rows,
    scale,
    part,
    nowMs,
    width,
    height,
    scrollTop,
    marked,
    dragged,
    theme,
    isMeasured,
  ]);

  const placeOf = (event: { clientX: number; clientY: number }) => {
    const box = canvas.current?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  const runUnder = (event: { clientX: number; clientY: number }) => {
    const { x, y } = placeOf(event);
    return runAt(timeline, rows, scale, x, y + scrollTop);
  };
  const release = (event: { clientX: number; clientY: number }) => {
    const range = dragged;
    setDragged(undefined);
    if (range !== undefined && Math.abs(range[1] - range[0]) >= dragPixels) {
      setZoomed({
        fromMs: Math.max(0, scale.msOf(Math.min(...range))),
        toMs: Math.min(nowMs, scale.msOf(Math.max(...range))),
      });
      return;
    }
    const run = runUnder(event);
    const id = run === undefined ? undefined : timeline.runs.execution[run];
    if (id !== undefined) void navigate({ to: "/executions/$id", params: { id } });
  };

  return (
    <>
      <div
        ref={element}
        className="timeline-box"
        style={{ height }}
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      >
        <div style={{ height: rows.height }}>
          <canvas
            ref={canvas}
            className={marked === undefined ? "timeline" : "timeline has-run"}
            style={{ width, height }}
            role="img"
            aria-label={`Timeline of ${timeline.runs.execution.length} runs on ${timeline.workers.length} workers; the table below has the same as numbers`}
            onPointerMove={(event) => {
              setMarked(runUnder(event));
              if (dragged !== undefined) setDragged([dragged[0], placeOf(event).x]);
            }}
            onPointerLeave={() => {
              setMarked(undefined);
              setDragged(undefined);
            }}
            onPointerDown={(event) => setDragged([placeOf(event).x, placeOf(event).x])}
            onPointerUp={release}
          />
        </div>
      </div>
      <p className="timeline-note">
        <output>{marked === undefined ? hint : runText(timeline, marked)}</output>
        {zoomed === undefined ? null : (
          <button type="button" onClick={() => setZoomed(undefined)}>
            Whole period
          </button>
        )}
      </p>
    </>
  );
}

const hint = "Point at a run to see what it was. A click opens it; dragging enlarges a part.";

function runText({ runs, workers, labels }: WorkerTimeline, n: number): string {
  const ended = runs.endedMs[n] ?? 0;
  const started = runs.startedMs[n] ?? null;
  const leased = runs.leasedMs[n] ?? 0;
  const label = labels[runs.label[n] ?? 0] ?? "";
  return [
    shownText(label === "" ? (runs.execution[n] ?? "") : label),
    `${workers[runs.worker[n] ?? 0]?.name ?? ""}, slot ${(runs.lane[n] ?? 0) + 1}`,
    started === null ? "did not begin" : `executed for ${durationText(ended - started)}`,
    `waited for inputs for ${durationText((started ?? ended) - leased)}`,
    (runs.outcome[n] ?? "running").replaceAll("_", " "),
  ].join(" · ");
}

/** The theme as a text that changes with it: a canvas is not drawn again by the style sheet. */
function useTheme(): string {
  return useSyncExternalStore(
    (changed) => {
      const observer = new MutationObserver(changed);
      observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
      dark.addEventListener("change", changed);
      return () => {
        observer.disconnect();
        dark.removeEventListener("change", changed);
      };
    },
    () => `${document.documentElement.dataset.theme ?? ""} ${dark.matches}`,
  );
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
