package io.caravan.io;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unmaps files at once. Java itself has no call for that before version 22: it unmaps a file when the buffer is collected
 * as garbage, and until then a deleted file keeps its disk space. {@code sun.misc.Unsafe.invokeCleaner} does it, which
 * the module jdk.unsupported exports for such uses. Where it is missing, the garbage collector unmaps as ever.
 */
final class Unmapper {
    private static final Logger LOG = LoggerFactory.getLogger(Unmapper.class);
    private static final @Nullable Unmapper FOUND = find();

    private final Object unsafe;
    private final Method invokeCleaner;

    private Unmapper(Object unsafe, Method invokeCleaner) {
        this.unsafe = unsafe;
        this.invokeCleaner = invokeCleaner;
    }

    private static @Nullable Unmapper find() {
        try {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field instance = type.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            return new Unmapper(instance.get(null), type.getMethod("invokeCleaner", ByteBuffer.class));
        } catch (ReflectiveOperationException | RuntimeException missing) {
            LOG.info("Deleted files keep their disk space until a garbage collection: {}", missing.toString());
            return null;
        }
    }

    /** Unmaps a file, whose memory nobody may touch any more: the process could die of it. */
    static void unmap(MappedByteBuffer memory) {
        if (FOUND != null) {
            FOUND.invoke(memory);
        }
    }

    private void invoke(MappedByteBuffer memory) {
        try {
            invokeCleaner.invoke(unsafe, memory);
        } catch (IllegalAccessException | InvocationTargetException refused) {
            LOG.warn("A file stays mapped until a garbage collection", refused);
        }
    }
}
