import { Socket } from "node:net";

/**
 * A socket that sends as one piece what is written to it in one turn.
 *
 * A write that wakes the database takes some 90 µs of ours, and statements that are sent without waiting
 * for each other would have one each.
 */
export function gatheringSocket(): Socket {
  const socket = new Socket();
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let isGathering = false;
  const sendSoon = () => {
    isGathering = false;
    socket.uncork();
  };
  socket.write = (...args: unknown[]) => {
    if (!isGathering) {
      isGathering = true;
      socket.cork();
      process.nextTick(sendSoon);
    }
    return write(...args);
  };
  return socket;
}
