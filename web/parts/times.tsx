import { agoText, durationText, elapsedMs } from "./duration.ts";
import { useNow } from "./now.ts";

/** How long ago; the exact time on hover. */
export function Ago({ time }: { time: string }) {
  const now = useNow();
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {agoText(time, Math.max(now, Date.parse(time)))}
    </time>
  );
}

/** How long something took, or has been taking. */
export function Elapsed({ from, to }: { from: string | null; to: string | null }) {
  return to === null ? <Running from={from} /> : <Lasted from={from} to={to} now={0} />;
}

function Running({ from }: { from: string | null }) {
  return <Lasted from={from} to={null} now={useNow()} />;
}

function Lasted({ from, to, now }: { from: string | null; to: string | null; now: number }) {
  const ms = elapsedMs(from, to, now);
  return ms === undefined ? (
    <span className="faint">–</span>
  ) : (
    <span className="number">{durationText(ms)}</span>
  );
}
