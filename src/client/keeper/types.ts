/// <reference lib="esnext.disposable" preserve="true" />
import type { FleetCalls } from "../fleet-calls.ts";
import type { OnUnavailable } from "../options.ts";

/** Who joins, and how its keeper behaves. Durations in milliseconds. */
export interface JoinOptions {
  cluster: string;
  pod: string;
  /** This run of the process, greater is newer; default: a time-ordered id made once per process. */
  instance?: string;
  /** How many places this pod counts for, 1…64. */
  slots?: number;
  labels?: Record<string, string>;
  /** `starting` is counted apart from the live pods until `pod.ready()`. */
  state?: "ready" | "starting";
  /** Beat from a worker thread (Node only), so that a blocked event loop keeps its leases. */
  thread?: boolean;
  /** What to do when the coordinator cannot be reached; default: the client's. */
  onUnavailable?: OnUnavailable;
  /** How long the coordinator may be out of reach before `onUnavailable` applies; default 3,000. */
  unavailableAfterMs?: number;
  /** On SIGTERM: drain, let the work end, leave. Node only; default true. */
  handleSignals?: boolean;
  /** How long after SIGTERM the work may go on; after it, what leases remain are given back. Default: without end. */
  graceMs?: number;
  /** Call `process.exit(0)` once the pods of this process have left because of SIGTERM; default false. */
  exitAfterLeave?: boolean;
  /** The operator asked this pod to drain. */
  onDrain?: (pod: Pod) => void;
  /** A newer process of the same name took over; every lease is lost. */
  onReplaced?: (pod: Pod) => void;
  /** A beat failed, for the n-th time in a row; the keeper goes on by itself. */
  onBeatError?: (error: unknown, failures: number) => void;
  /** Ends the joining, not the pod. */
  signal?: AbortSignal;
}

/** What a pod is doing. */
export type PodState = "ready" | "starting" | "draining" | "left" | "replaced" | "stopped";

/** A pod in a fleet, beaten for until it leaves. */
export interface Pod {
  readonly cluster: string;
  readonly pod: string;
  readonly instance: string;
  readonly state: PodState;
  /** What the operator last asked for; the keeper does not act on it by itself. */
  readonly directive: "run" | "drain";
  /** Fires once when the pod stops taking leases; its reason is a PodClosedError. */
  readonly closing: AbortSignal;
  /** How many leases are held, degraded ones included. */
  readonly held: number;
  /** Waits for a slot. Throws NotGrantedError, PodClosedError, ProblemError, UnavailableError, or the signal's reason. */
  acquire(options?: AcquireOptions): Promise<Lease>;
  /** Ends `starting`: from now on the pod counts as live. Throws PodClosedError once it is closed. */
  ready(): void;
  /** Takes no more leases and beats as draining; resolves when the last held lease has ended. Never rejects. */
  drain(): Promise<void>;
  /** Ends every lease still held and takes the pod out of the count. Never rejects. */
  leave(): Promise<LeaveOutcome>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** How leaving ended; `unconfirmed` means the pod and its leases lapse by their ttl. */
export type LeaveOutcome = "left" | "replaced" | "unconfirmed";

/** What to ask for. `ttlMs` and `waitMs` in milliseconds; `waitMs` may be as long as you like. */
export interface AcquireOptions {
  class?: string | undefined;
  ttlMs?: number | undefined;
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
  requestId?: string | undefined;
}

/** A slot, renewed by the keeper until it is released or lost. */
export interface Lease {
  /** The coordinator's id; null when degraded. */
  readonly id: string | null;
  readonly class: string;
  /** How long it lives after a renewal, in milliseconds; null when degraded. */
  readonly ttlMs: number | null;
  readonly requestId: string;
  /** True when the coordinator was out of reach and the pod goes on without a slot. */
  readonly degraded: boolean;
  /** Fires once if the lease is lost, never after `release()`; its reason is a LeaseLostError. */
  readonly signal: AbortSignal;
  /** Whether it is lost, by the clock of this moment. */
  readonly lost: boolean;
  /** Gives the slot back, once. Never rejects. */
  release(): Promise<ReleaseOutcome>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * How releasing ended: `released`; `missing`, it had ended at the coordinator; `lost` or `degraded`, nothing was sent;
 * `unconfirmed`, no answer came and the slot is free by its ttl at the latest.
 */
export type ReleaseOutcome = "released" | "missing" | "lost" | "degraded" | "unconfirmed";

/** Cluster, pod and instance, as every call names them. */
export interface Identity {
  cluster: string;
  pod: string;
  instance: string;
}

/** What each beat says besides the leases. */
export type BeatBody = Identity & Pick<Parameters<FleetCalls["heartbeat"]>[0], "slots" | "labels">;
