import type { AuthDependencies } from '../auth/login.ts';
import type { Dependencies } from '../context.ts';

export type RuoyiDependencies = Dependencies & AuthDependencies;

/** The schema that every operation of the adapter has. The OpenAPI document describes only our own API. */
export const hidden = (operationId: string) => ({ hide: true, operationId: `ruoyi${operationId}` });
