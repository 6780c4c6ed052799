package io.caravan.server.archive;

/** Is told what pruning does, on the thread that prunes. What it throws ends the pruning. */
public interface PruneListener {
    /** Something was removed, or would be in a dry run. */
    void removed(Removal removal);

    /** A document cannot be pruned; the message names it and its object. The others go on. */
    void problem(String message);

    /** One more name is done. */
    default void done() {}
}
