package io.caravan.engine;

/**
 * The possible states of a store on disk. {@link Recovery} handles each state according to the table in
 * docs/internals/recovery.md. A refusal changes nothing on disk: recovery reads and decides everything before it writes
 * anything.
 */
public enum RecoveryCase {
    NOTHING_THERE,
    CREATION_CUT_OFF,
    CLEAN_CLOSE,
    FRAMES_TO_REPLAY,
    TORN_TAIL,
    BAD_FRAME_WITH_VALID_ONES_AFTER,
    GAP_AFTER_FSYNCED_FRAMES,
    GAP_IN_A_REPLICA,
    MISSING_LOG_SEGMENT,
    MISSING_HEAP_SEGMENT,
    NEWEST_CHECKPOINT_BAD,
    ALL_CHECKPOINTS_BAD,
    CHECKPOINT_NEWER_THAN_LOG,
    HALF_MADE_SEGMENT,
    VERSION_TOO_NEW,
    OTHER_STORES_SEGMENT,
    LEFTOVER_TEMPORARY_FILES,
    LOCKED,
    NOT_A_DIRECTORY,
    UNKNOWN_FILES
}
