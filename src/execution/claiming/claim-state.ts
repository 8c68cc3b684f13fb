/**
 * The states of a worker's claim at the server where it waits.
 *
 *     waiting  -- taken -------------------------> served
 *     waiting  -- wait-over, cancelled, left ----> answered   (with nothing)
 *     resting  -- wait-over, cancelled, left ----> answered   (with nothing)
 *     served   -- wait-over, cancelled ----------> served     (afterwards: answer)
 *     served   -- left --------------------------> served     (afterwards: give back)
 *     served   -- found -------------------------> answered   (with the work; given back after left)
 *     served   -- nothing-found -----------------> waiting, or answered as `afterwards` says
 *
 * While a claim is served, one transaction may lease work for it. So it is not answered before that transaction
 * has ended: leased work would otherwise be lost until the lease expires.
 */
export type ClaimState =
  | { readonly kind: "waiting" }
  /** The worker accepts nothing because it is drained. The claim waits only to avoid constant calls. */
  | { readonly kind: "resting" }
  | {
      readonly kind: "served";
      /** What happens when nothing was found: the claim continues to wait, it is answered, or its worker has gone. */
      readonly afterwards: "wait" | "answer" | "give-back";
    }
  | { readonly kind: "answered" };

export type ClaimEvent =
  /** A transaction looks for work for it. */
  | "taken"
  /** The claim's waiting time has ended. */
  | "wait-over"
  /** The server's copy of the worker's row may be out of date: the worker has to claim again. */
  | "cancelled"
  /** The caller no longer waits for the answer. */
  | "left"
  /** The transaction that served it has leased work for it, and is committed. */
  | "found"
  /** The transaction that served it has leased nothing, or was rolled back. */
  | "nothing-found";

/** The effect of an event on a claim. */
export type ClaimEffect = "none" | "answer-with-nothing" | "answer-with-work" | "give-work-back";

interface ClaimStep {
  readonly state: ClaimState;
  readonly effect: ClaimEffect;
}

/** Decides what an event means for a claim. Throws where the event cannot happen in that state. */
export function nextClaimState(state: ClaimState, event: ClaimEvent): ClaimStep {
  switch (state.kind) {
    case "waiting":
    case "resting":
      return ofUnserved(state, event);
    case "served":
      return ofServed(state, event);
    case "answered":
      if (event === "wait-over" || event === "cancelled" || event === "left")
        return { state, effect: "none" };
      throw impossible(state, event);
  }
}

type Unserved = Extract<ClaimState, { kind: "waiting" | "resting" }>;
type Served = Extract<ClaimState, { kind: "served" }>;

function ofUnserved(state: Unserved, event: ClaimEvent): ClaimStep {
  switch (event) {
    case "taken":
      if (state.kind === "resting") throw impossible(state, event);
      return { state: { kind: "served", afterwards: "wait" }, effect: "none" };
    case "wait-over":
    case "cancelled":
    case "left":
      return { state: answered, effect: "answer-with-nothing" };
    case "found":
    case "nothing-found":
      throw impossible(state, event);
  }
}

function ofServed(state: Served, event: ClaimEvent): ClaimStep {
  switch (event) {
    case "taken":
      throw impossible(state, event);
    case "wait-over":
    case "cancelled":
      return {
        state: state.afterwards === "wait" ? { kind: "served", afterwards: "answer" } : state,
        effect: "none",
      };
    case "left":
      return { state: { kind: "served", afterwards: "give-back" }, effect: "none" };
    case "found":
      return {
        state: answered,
        effect: state.afterwards === "give-back" ? "give-work-back" : "answer-with-work",
      };
    case "nothing-found":
      return state.afterwards === "wait"
        ? { state: { kind: "waiting" }, effect: "none" }
        : { state: answered, effect: "answer-with-nothing" };
  }
}

const answered: ClaimState = { kind: "answered" };

function impossible(state: ClaimState, event: ClaimEvent): Error {
  return new Error(`a claim that is ${state.kind} cannot be ${event}`);
}

/**
 * Whether a round of the server looks for work.
 *
 *     idle     -- asked --------------> due        (a round is to be started)
 *     owed     -- asked --------------> due        (a round is to be started)
 *     due      -- begun --------------> looking
 *     due      -- nobody-to-serve ----> owed
 *     looking  -- asked --------------> due        (the same round looks once more)
 *     looking  -- ended --------------> idle
 *     due      -- ended --------------> due
 *     any      -- stopped ------------> stopped
 *
 * `owed`: all claims that may find something are served by transactions at this moment. These look at their end, and
 * then ask again where they may have missed something.
 */
export type RoundState = "idle" | "owed" | "due" | "looking" | "stopped";

export type RoundEvent = "asked" | "begun" | "nobody-to-serve" | "ended" | "stopped";

/** Decides what an event means for the rounds of a server. Throws where the event cannot happen in that state. */
export function nextRoundState(state: RoundState, event: RoundEvent): RoundState {
  if (state === "stopped" || event === "stopped") return "stopped";
  switch (event) {
    case "asked":
      return "due";
    case "begun":
      if (state === "due") return "looking";
      break;
    case "nobody-to-serve":
      if (state === "due") return "owed";
      break;
    case "ended":
      if (state === "looking") return "idle";
      if (state === "due") return "due";
      break;
  }
  throw new Error(`a round that is ${state} cannot be ${event}`);
}
