/**
 * Every state has a shape of its own, so that nobody needs to tell colours apart.
 *
 * Drawn once a page, hidden; `<use href="#state-failed">` and `#cell-failed` show
 * them in the current colour, `--on-state` being what is drawn upon it.
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
      <symbol id="state-inactive" viewBox="0 0 16 16">
        <circle cx="8" cy="8" r="2" fill="currentColor" opacity="0.5" />
      </symbol>
      <symbol id="cell-succeeded" viewBox="0 0 10 10">
        <rect width="10" height="10" rx="2" fill="currentColor" opacity="0.75" />
      </symbol>
      <symbol id="cell-failed" viewBox="0 0 10 10">
        <rect width="10" height="10" rx="2" fill="currentColor" />
        <path d="M3 3l4 4m0-4l-4 4" className="upon" />
      </symbol>
      <symbol id="cell-running" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
        <rect x="3" y="3" width="4" height="4" rx="1" fill="currentColor" />
      </symbol>
      <symbol id="cell-queued" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
      </symbol>
      <symbol id="cell-ready" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
        <circle cx="5" cy="5" r="1.2" fill="currentColor" />
      </symbol>
      <symbol id="cell-blocked" viewBox="0 0 10 10">
        <circle cx="5" cy="5" r="1.8" fill="currentColor" />
      </symbol>
      <symbol id="cell-unreachable" viewBox="0 0 10 10">
        <path d="M2 8l6-6" className="line" />
      </symbol>
      <symbol id="cell-waiting" viewBox="0 0 10 10">
        <rect x="0.75" y="0.75" width="8.5" height="8.5" rx="2" className="line" />
        <path d="M4 3v4m2-4v4" className="line" />
      </symbol>
      <symbol id="cell-expired" viewBox="0 0 10 10">
        <path d="M2 2h6L5 5zm3 3l3 3H2z" className="line" />
      </symbol>
      <symbol id="cell-coalesced" viewBox="0 0 10 10">
        <circle cx="3.6" cy="5" r="2.4" className="line" />
        <circle cx="6.4" cy="5" r="2.4" className="line" />
      </symbol>
      <symbol id="cell-inactive" viewBox="0 0 10 10">
        <circle cx="5" cy="5" r="1" fill="currentColor" opacity="0.5" />
      </symbol>
      <symbol id="cell-cancelled" viewBox="0 0 10 10">
        <rect y="3.5" width="10" height="3" rx="1" fill="currentColor" />
      </symbol>
    </svg>
  );
}
