import type { ReactNode } from "react";
import { useState } from "react";
import { nearest } from "./plot.ts";

interface Props {
  readonly label: string;
  readonly width: number;
  readonly height: number;
  /** The left edge of the plot, in the units of `width`. */
  readonly left: number;
  readonly right: number;
  readonly count: number;
  /** Describes a point; the text is shown below the chart and read aloud. */
  readonly say: (n: number) => string;
  readonly onChoose: (n: number) => void;
  /** Called after the user has selected a range. */
  readonly onRange?: (from: number, to: number) => void;
  readonly children: (at: number | undefined) => ReactNode;
}

/** A shorter movement selects a point and not a range. */
const leastDragged = 8;

/**
 * A chart with a cursor for pointer and arrow keys: the description of the point is below it. Enter or a click selects
 * the point; dragging selects a range.
 */
export function ChartFrame(props: Props) {
  const { children, count, height, label, left, onChoose, onRange, right, say, width } = props;
  const [at, setAt] = useState<number>();
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>();
  const place = (event: React.PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * width;
  };
  const pointAt = (x: number) => nearest(x, count, left, right);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const last = count - 1;
    const next = {
      ArrowLeft: Math.max(0, (at ?? count) - 1),
      ArrowRight: Math.min(last, (at ?? -1) + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      setAt(next);
    } else if (event.key === "Enter" && at !== undefined) {
      event.preventDefault();
      onChoose(at);
    }
  };
  return (
    <div className="chart-frame">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, count)}
        aria-valuenow={(at ?? count - 1) + 1}
        aria-valuetext={count === 0 ? "no figures" : say(at ?? count - 1)}
        onKeyDown={onKeyDown}
        onPointerMove={(event) => {
          const x = place(event);
          setAt(pointAt(x));
          if (drag !== undefined) setDrag({ from: drag.from, to: x });
        }}
        onPointerLeave={() => {
          setAt(undefined);
          setDrag(undefined);
        }}
        onPointerDown={(event) => {
          const x = place(event);
          setDrag({ from: x, to: x });
        }}
        onPointerUp={(event) => {
          const x = place(event);
          setDrag(undefined);
          if (drag === undefined || count === 0) return;
          if (Math.abs(x - drag.from) < leastDragged) onChoose(pointAt(x));
          else onRange?.(pointAt(Math.min(x, drag.from)), pointAt(Math.max(x, drag.from)));
        }}
        onPointerCancel={() => setDrag(undefined)}
      >
        {children(at)}
        {drag === undefined || Math.abs(drag.to - drag.from) < leastDragged || !onRange ? null : (
          <rect
            className="chart-range"
            x={Math.min(drag.from, drag.to)}
            y={0}
            width={Math.abs(drag.to - drag.from)}
            height={height}
          />
        )}
      </svg>
      <p className="chart-says faint">{at === undefined ? " " : say(at)}</p>
    </div>
  );
}
