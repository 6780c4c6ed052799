package io.caravan.engine;

/**
 * The recovery decision table: the possible states on disk, and recovery's decision for each. {@link Recovery} applies
 * it.
 *
 * <pre>
 *   found                                             decision
 *   ------------------------------------------------  ---------------------------------------------------------
 *   no files                                          create a store
 *   a store whose creation was cut off                create it again: it never had any data
 *   clean close                                       open; nothing to replay
 *   frames after the newest checkpoint                open; replay them
 *   torn tail in a frame, its header, or at a         open; the log ends before it, as nothing valid follows
 *   segment's end
 *   bad frame with valid ones after it                refuse: something acknowledged is damaged
 *   the same, where no later frame records that the   open; the log ends before it: a power failure took frames
 *   frames before it were fsynced                     that were never acknowledged as fsynced
 *   the same in a replica, after its fsynced          open; the log ends before it: its group has what follows
 *   position
 *   valid frames of a lower term after the last one   open; ignore them: they were cut off once
 *   missing log segment                               refuse: it may have had acknowledged writes
 *   missing heap segment                              refuse: it had values
 *   newest checkpoint bad, older good                 open from the older: the log is retained back to it
 *   all checkpoints bad                               refuse
 *   checkpoint newer than the log's end               refuse: the log lost what the checkpoint depends on
 *   half-made or half-recycled last segment after     open; make it again: it never had a frame
 *   the log's end
 *   any other log segment with a bad header, or one   refuse: no crash leaves that, so it is damaged
 *   of the wrong size
 *   version too new                                   refuse: an older release must not guess
 *   other store's segment                             refuse
 *   leftover temporary files                          open; delete them: they were never in use
 *   locked                                            refuse
 *   not a directory                                   refuse
 *   unknown files in it                               refuse: the directory is not (only) a store's
 * </pre>
 *
 * <p>A refusal changes nothing on disk: recovery reads and decides everything before it writes anything.
 */
public enum RecoveryCase {
    NOTHING_THERE,
    CREATION_CUT_OFF,
    CLEAN_CLOSE,
    FRAMES_TO_REPLAY,
    TORN_TAIL,
    BAD_FRAME_WITH_VALID_ONES_AFTER,
    GAP_BEHIND_WHAT_WAS_FORCED,
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
