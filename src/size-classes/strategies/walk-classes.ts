/**
 * Returns the probability of each class when the smaller ones are drawn first, each with its own draw, and the last
 * gets the rest.
 *
 * @param successes Of each class but the last.
 */
export function requestedInTurn(successes: readonly number[]): number[] {
  let left = 1;
  const probabilities = successes.map((success) => {
    const taken = left * success;
    left -= taken;
    return taken;
  });
  probabilities.push(left);
  return probabilities;
}

/**
 * Returns the index of the class for a draw in [0, 1); the rest belongs to the last one.
 *
 * One draw serves for many: given that u missed the first class, with p, (u − p) / (1 − p) is again uniform in [0, 1)
 * and independent of u. So walking down the probabilities of `requestedInTurn` equals a new draw for each class.
 */
export function drawnPlace(probabilities: readonly number[], draw: number): number {
  let left = draw;
  const last = probabilities.length - 1;
  for (let place = 0; place < last; place++) {
    const probability = probabilities[place] ?? 0;
    if (left < probability) return place;
    left -= probability;
  }
  return last;
}
