/**
 * The functions of `src` over 100 lines, by name, each with the reason why it is not divided.
 *
 * The show fails for a longer function without a reason here, and for a reason whose function is shorter by now.
 */
export const reasonsForLength: Readonly<Record<string, string>> = {
  checkedBlobs: "wraps the nine methods of one interface; all share four checks of a file",
  claimDispatcher:
    "the loop of a state machine, whose states and effects are in claim-state.ts; its steps share the round and the claims",
  decodeBlock:
    "the inner loop of zstd: the bit position and the tables stay in local variables, as each access is per sequence",
  downloads:
    "the two ways of one transfer, in one piece and in chunks, share who waits and how a stop ends both",
  duneStoreIn: "the methods of one store, each a few lines over the same four paths",
  fetchWindow:
    "one exchange with the farm: its steps share which results are found, missing, claimed and waited for",
  githubClient: "a list of methods, one for each call of GitHub that several files use",
  openExecutionQueue: "puts the services of the queue together, one call for each",
  openGranaryStore:
    "the store's methods and its trimming share what is being trimmed and what is named meanwhile",
  openPackSegments: "the methods of one set of open files; all change the last file and its index",
  openServices: "puts the services of the server together, one call for each, in their order",
  openSpool: "the methods of one directory; all change its list of files and the file that is open",
  openTieredCache:
    "one lookup in three places; its steps share the limits of waiting and the transfers in progress",
  openStores: "puts the stores of the server together, one call for each, in their order",
  retentionTasks: "a list of tasks, one for each kind of old data",
  serveDune: "starts and ends the parts that serve dune; they share one list of what runs",
  serveStream:
    "one call from its headers to its status; its callbacks share whether the call is over",
  startDuneSession: "one build of dune; its callbacks share what was written, told and kept",
  startGranary: "starts the parts of the daemon in their order, and stops them in reverse",
  transferQueue: "a pure state machine: each method is one event over the same five maps",
};
