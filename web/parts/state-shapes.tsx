/**
 * Every state has its own shape, so that colours are not needed.
 *
 * Rendered once per page, hidden; `<use href="#state-failed">` shows a shape in the current colour, and `--on-state` is
 * the colour drawn on it.
 */
export function StateShapes() {
  return (
    <svg className="sprite" aria-hidden="true">
      <symbol id="state-succeeded" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="7" fill="currentColor" />
        <path d="M4.8 8.3l2.2 2.2 4.2-4.6" className="upon" />
      </symbol>
      <symbol id="state-failed" viewBox="0 0 16 16">
        <path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor" />
        <path d="M5.5 5.5l5 5m0-5l-5 5" className="upon" />
      </symbol>
      <symbol id="state-running" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" opacity="0.28" />
        <path d="M8 1.8A6.2 6.2 0 0 1 14.2 8" className="line" />
        <circle cx="8" cy="8" r="2.2" fill="currentColor" />
      </symbol>
      <symbol id="state-queued" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" />
        <path d="M8 4.5V8l2.4 1.6" className="line" />
      </symbol>
      <symbol id="state-ready" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" />
        <circle cx="8" cy="8" r="2.4" fill="currentColor" />
      </symbol>
      <symbol id="state-blocked" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" strokeDasharray="2.4 2.5" />
      </symbol>
      <symbol id="state-unreachable" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" />
        <path d="M3.8 12.2l8.4-8.4" className="line" />
      </symbol>
      <symbol id="state-cancelled" viewBox="0 0 16 16">
        <rect x="1.5" y="1.5" width="13" height="13" rx="3" fill="currentColor" />
        <path d="M5 8h6" className="upon" />
      </symbol>
      <symbol id="state-waiting" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" />
        <path d="M6.2 5.4v5.2m3.6-5.2v5.2" className="line" />
      </symbol>
      <symbol id="state-expired" viewBox="0 0 16 16">
        <path d="M4 2h8L8 8zm4 6l4 6H4z" className="line" />
      </symbol>
      <symbol id="state-coalesced" viewBox="0 0 16 16">
        <circle cx="5.5" cy="8" r="4.2" className="line" />
        <circle cx="10.5" cy="8" r="4.2" className="line" />
      </symbol>
      <symbol id="state-silent" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" />
        <path d="M5 8h.01M8 8h.01M11 8h.01" className="line" />
      </symbol>
      <symbol id="state-over" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" />
        <path d="M5 8h6" className="line" />
      </symbol>
      <symbol id="state-flaky" viewBox="0 0 16 16">
        <path d="M8 2.2 14.2 13.4H1.8Z" className="line" />
        <path d="M8 6.4v3.2M8 11.5h.01" className="line" />
      </symbol>
      <symbol id="state-hit" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="6.2" className="line" />
        <path d="M4.8 8.3l2.2 2.2 4.2-4.6" className="line" />
      </symbol>
      <symbol id="state-inactive" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="2" fill="currentColor" opacity="0.5" />
      </symbol>
    </svg>
  );
}
