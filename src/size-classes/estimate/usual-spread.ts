/** How much runs vary around their middle before there are enough to say: by a quarter, up or down. */
export const usualSigma = 0.25;
/** A run that was stopped by its timeout would have taken longer: half as long again, as an assumption. */
export const logStoppedFactor = Math.log(1.5);
/** The same assumption for the memory of a run that ran out of it. */
export const logOutOfMemoryFactor = Math.log(1.5);
