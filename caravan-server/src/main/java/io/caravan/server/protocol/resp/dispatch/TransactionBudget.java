package io.caravan.server.protocol.resp.dispatch;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory for the commands of all connections' transactions together: a transaction waits for its {@code EXEC} as long as
 * its client likes. For any thread.
 */
public final class TransactionBudget {
    /** Part of the heap that transactions may take, unless a single one may take more. */
    private static final int HEAP_PART = 8;

    private final long limitBytes;
    private final AtomicLong heldBytes = new AtomicLong();

    TransactionBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** A budget for this process, which lets every transaction be as large as it may. */
    public static TransactionBudget forProcess(long transactionBytes) {
        return new TransactionBudget(
                Math.max(transactionBytes, Runtime.getRuntime().maxMemory() / HEAP_PART));
    }

    long limitBytes() {
        return limitBytes;
    }

    /** Takes bytes, or returns false when there are not so many. */
    boolean take(long bytes) {
        if (heldBytes.addAndGet(bytes) <= limitBytes) {
            return true;
        }
        heldBytes.addAndGet(-bytes);
        return false;
    }

    void give(long bytes) {
        heldBytes.addAndGet(-bytes);
    }
}
