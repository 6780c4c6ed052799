package io.caravan.engine;

/**
 * The recovery decision table: what may be found on disk, and what is done about it. {@link Recovery} decides by it,
 * and a test makes each row on disk and looks at the outcome.
 *
 * <pre>
 *   found                                             decision
 *   ------------------------------------------------  ---------------------------------------------------------
 *   nothing there                                     create a store
 *   a store whose creation was cut off                create it anew: it never held anything
 *   clean close                                       open; nothing to replay
 *   frames behind the newest checkpoint               open; replay them
 *   torn tail in a frame, its header, or at a         open; the log ends before it, as nothing valid follows
 *   segment's end
 *   bad frame with valid ones after it                refuse: something acknowledged is damaged
 *   the same, where none of those says that the       open; the log ends before it: a power cut has taken what
 *   frames before it were forced                      nobody was told to be forced
 *   valid frames of a lower term after the last one   open; they mean nothing: they were cut off once
 *   the same in a replica, behind what was forced     open; the log ends before it: its group has what follows
 *   missing log segment                               refuse: it may have held something acknowledged
 *   missing heap segment                              refuse: it held values
 *   newest checkpoint bad, older good                 open from the older: the log is kept back to it
 *   all checkpoints bad                               refuse
 *   checkpoint newer than the log's end               refuse: the log lost what the checkpoint depends on
 *   half-made or half-recycled last segment behind    open; make it anew: it never held a frame
 *   the log's end
 *   any other log segment with a bad header, or one   refuse: no crash leaves that, so it is damaged
 *   that has not its size
 *   version too new                                   refuse: an older release must not guess
 *   other store's segment                             refuse
 *   leftover temporary files                          open; delete them: they never meant anything
 *   locked                                            refuse
 *   not a directory                                   refuse
 *   unknown files in it                               refuse: the directory is not (only) a store's
 * </pre>
 *
 * <p>A refusal changes nothing on disk: everything is read and decided first, and only then is anything written.
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
