/**
 * With which probability each class is chosen when the smaller are asked first, each with a draw of its own, and the
 * last takes what nobody took.
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
 * The place of the class that a draw in [0, 1) falls on; what is left over is the last one's.
 *
 * Here one draw serves for many: given that u missed the first class, with p, (u − p) / (1 − p) is again even in
 * [0, 1) and tells nothing of u. So to walk down the probabilities of `requestedInTurn` is to draw anew for each class.
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
