package io.caravan.io;

/**
 * Finds out whether a read of mapped memory has failed. If the disk cannot read a mapped page, interpreted code throws
 * an {@link InternalError} at once, but compiled code continues with wrong bytes. The JVM then throws the error the next
 * time that the thread enters the runtime of the JVM, which may be at any place, even while the thread holds a lock.
 */
public final class PendingReadError {
    /** Always 0. Volatile, so that the compiler does not know the lengths of the arrays. */
    private static volatile int none;

    private PendingReadError() {}

    /**
     * Throws the error of a failed read on this thread, if the JVM has not thrown it yet. Code that may have read wrong
     * bytes calls this method before it leaves the block that catches the error.
     *
     * @throws InternalError if the disk could not read bytes
     */
    public static void raise() {
        // Compiled code allocates an array of arrays of unknown length in the runtime of the JVM.
        byte[][] arrays = new byte[none][none];
        if (arrays.length > 0) {
            throw new IllegalStateException();
        }
    }
}
