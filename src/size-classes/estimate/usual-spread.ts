/** How much runs vary around their middle before there are enough to measure it: by a quarter, up or down. */
export const defaultSigma = 0.25;
/** A run that was stopped by its timeout would have taken longer: by half, as an assumption. */
export const logStoppedFactor = Math.log(1.5);
/** The same assumption for the memory of a run that ran out of memory. */
export const logOutOfMemoryFactor = Math.log(1.5);
