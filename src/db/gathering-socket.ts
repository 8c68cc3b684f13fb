import { Socket } from "node:net";

/**
 * A socket that sends everything that is written in one turn of the event loop as one piece.
 *
 * A write that wakes the database takes about 90 µs of this process. Statements that are sent without waiting for each
 * other would cost one write each.
 */
export function gatheringSocket(): Socket {
  const socket = new Socket();
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let isGathering = false;
  const sendSoon = () => {
    isGathering = false;
    socket.uncork();
  };
  const gather = (...args: unknown[]) => {
    if (!isGathering) {
      isGathering = true;
      socket.cork();
      process.nextTick(sendSoon);
    }
    return write(...args);
  };
  // `connect` assigns the write of all sockets to `write` if it is another one.
  Object.defineProperty(socket, "write", { get: () => gather, set: () => {} });
  return socket;
}
