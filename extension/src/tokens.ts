// The tokens of texts, messages and conversations, without asking anybody.

export { type Estimate, HybridEstimator, type Method } from "./tokens/hybrid.ts";
export { estimateImage } from "./tokens/image.ts";
export { estimateMessage, estimateTools } from "./tokens/message.ts";
export { estimateText } from "./tokens/text.ts";
