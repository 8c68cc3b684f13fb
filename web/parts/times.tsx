import { agoText, durationText, elapsedMs } from "./duration.ts";
import { useNow } from "./now.ts";

/** The time since then; the exact time on hover. */
export function Ago({ time }: { time: string }) {
  const now = useNow();
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {agoText(time, Math.max(now, Date.parse(time)))}
    </time>
  );
}

interface Span {
  readonly from: string | null;
  readonly to: string | null;
  /** The part that does not count. */
  readonly idleMs?: number;
}

/** How long something took, or has taken so far. */
export function Elapsed(span: Span) {
  return span.to === null ? <Running {...span} /> : <Lasted {...span} now={0} />;
}

function Running(span: Span) {
  return <Lasted {...span} now={useNow()} />;
}

function Lasted({ from, to, idleMs = 0, now }: Span & { readonly now: number }) {
  const whole = elapsedMs(from, to, now);
  const ms = whole === undefined ? undefined : Math.max(0, whole - idleMs);
  return ms === undefined ? (
    <span className="faint">–</span>
  ) : (
    <span className="number">{durationText(ms)}</span>
  );
}
