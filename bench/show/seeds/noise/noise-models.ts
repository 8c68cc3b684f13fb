import type { OpenMachine } from "#comparison/simulate-comparisons.ts";
import { exponential, normal, type Random } from "#statistics/seeded-random.ts";

/** A machine on which processes of the same program differ from each other. */
export interface NoiseModel {
  readonly name: string;
  readonly open: OpenMachine;
}

/** The noise of any quiet machine. */
const background = (random: Random) => Math.exp(0.005 * normal(random));

/** A factor that depends on the number of earlier processes, from a random phase on. */
function byTurn(factorOf: (turn: number) => number, cycle: number): OpenMachine {
  return (random) => {
    let turn = Math.floor(random() * cycle);
    return () => background(random) * factorOf(turn++);
  };
}

function autoregressive(coefficient: number, spread: number): OpenMachine {
  return (random) => {
    let state = normal(random) * spread;
    const step = spread * Math.sqrt(1 - coefficient ** 2);
    return () => {
      state = coefficient * state + step * normal(random);
      return background(random) * Math.exp(state);
    };
  };
}

/** Two states; each process may leave the state with these chances. */
function switching(factor: number, enter: number, leave: number): OpenMachine {
  return (random) => {
    let isIn = random() < enter / (enter + leave);
    return () => {
      if (random() < (isIn ? leave : enter)) isIn = !isIn;
      return background(random) * (isIn ? factor : 1);
    };
  };
}

const eachTime =
  (draw: (random: Random) => number): OpenMachine =>
  (random) =>
  () =>
    draw(random);

const rhythm = (period: number, amplitude: number) =>
  byTurn((turn) => 1 + amplitude * Math.sin((2 * Math.PI * turn) / period), period);

/** The models of the external review. */
const reviewed: readonly NoiseModel[] = [
  { name: "lognormal, 1 %", open: eachTime((random) => Math.exp(0.01 * normal(random))) },
  { name: "lognormal, 5 %", open: eachTime((random) => Math.exp(0.05 * normal(random))) },
  {
    name: "heavy tails (Student's t, 2 degrees of freedom)",
    open: eachTime((random) =>
      Math.exp((0.01 * normal(random)) / Math.sqrt(exponential(random, 1))),
    ),
  },
  {
    name: "delays in 10 % of runs",
    open: eachTime(
      (random) => background(random) * (random() < 0.1 ? 1 + exponential(random, 0.1) : 1),
    ),
  },
  {
    name: "two modes, 50:50, 4 % apart",
    open: eachTime((random) => background(random) * (random() < 0.5 ? 1.04 : 1)),
  },
  {
    name: "two modes, 85:15, 10 % apart",
    open: eachTime((random) => background(random) * (random() < 0.15 ? 1.1 : 1)),
  },
  { name: "modes that stick", open: switching(1.04, 0.05, 0.05) },
  { name: "drift of 5 %", open: byTurn((turn) => 1 + (0.05 * turn) / 40, 1) },
  { name: "autoregressive, 0.6", open: autoregressive(0.6, 0.02) },
  { name: "autoregressive, 0.95", open: autoregressive(0.95, 0.02) },
  {
    name: "random walk",
    open: (random) => {
      let state = 0;
      return () => {
        state += 0.005 * normal(random);
        return background(random) * Math.exp(state);
      };
    },
  },
  { name: "time of day (30 processes)", open: rhythm(30, 0.03) },
  { name: "rhythm of 4 processes, 3 %", open: rhythm(4, 0.03) },
  {
    name: "the second of a pair is slower",
    open: (random) => {
      let turn = 0;
      return () => background(random) * (turn++ % 2 === 0 ? 1 : 1.02);
    },
  },
  {
    name: "coarse clock",
    open: eachTime((random) => Math.max(1, Math.round(50 * Math.exp(0.01 * normal(random)))) / 50),
  },
  { name: "bursts of a neighbour", open: switching(1.2, 0.03, 0.2) },
];

const further: readonly NoiseModel[] = [
  { name: "rhythm of 2 processes, 3 %", open: byTurn((turn) => (turn % 2 === 0 ? 1 : 1.03), 2) },
  { name: "rhythm of 3 processes, 3 %", open: rhythm(3, 0.03) },
  { name: "rhythm of 8 processes, 3 %", open: rhythm(8, 0.03) },
  {
    name: "each sixth process is 15 % slower",
    open: byTurn((turn) => (turn % 6 === 0 ? 1.15 : 1), 6),
  },
  { name: "a slow process is followed by a fast one", open: autoregressive(-0.7, 0.02) },
  {
    name: "noise that grows and shrinks",
    open: (random) => {
      let size = 0;
      return () => {
        size = 0.9 * size + 0.4 * normal(random);
        return background(random) * Math.exp(0.01 * Math.exp(size) * normal(random));
      };
    },
  },
  {
    name: "heat: slower with each of 12 processes, then throttled anew",
    open: byTurn((turn) => 1 + (0.06 * (turn % 12)) / 12, 12),
  },
  {
    name: "modes of a rhythm: 4 processes fast, 4 slow, with drift",
    open: byTurn((turn) => (turn % 8 < 4 ? 1 : 1.04) * (1 + 0.001 * turn), 8),
  },
];

export const noiseModels: readonly NoiseModel[] = [...reviewed, ...further];
