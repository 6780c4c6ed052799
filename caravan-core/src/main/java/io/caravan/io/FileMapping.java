package io.caravan.io;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mapped file that can be unmapped at once. An ordinary mapping lasts until its buffer is garbage-collected, and a
 * deleted file keeps its disk space until then.
 *
 * <p>From Java 22 on, a file is mapped into an arena of {@code java.lang.foreign}, and closing the arena unmaps the
 * file. The calls use reflection, because the class is compiled for Java 17. On earlier Java versions, the class uses
 * {@code sun.misc.Unsafe.invokeCleaner}, which causes warnings on later versions. If neither is available, the garbage
 * collector unmaps the file.
 */
final class FileMapping implements MappedFile {
    private static final Logger LOG = LoggerFactory.getLogger(FileMapping.class);
    private static final int FIRST_WITH_ARENAS = 22;
    private static final Mapper MAPPER = findMapper();

    private final MappedByteBuffer memory;
    private final Unmapping unmapping;

    private interface Mapper {
        FileMapping map(FileChannel channel) throws IOException, ReflectiveOperationException;
    }

    private interface Unmapping {
        void run() throws ReflectiveOperationException;
    }

    private FileMapping(MappedByteBuffer memory, Unmapping unmapping) {
        this.memory = memory;
        this.unmapping = unmapping;
        memory.order(ByteOrder.LITTLE_ENDIAN);
    }

    static FileMapping of(FileChannel channel) throws IOException {
        try {
            return MAPPER.map(channel);
        } catch (ReflectiveOperationException failed) {
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            throw cause instanceof IOException problem ? problem : new IOException("cannot be mapped: " + cause, cause);
        }
    }

    private static Mapper findMapper() {
        try {
            return Runtime.version().feature() >= FIRST_WITH_ARENAS ? intoArenas() : withCleaner();
        } catch (ReflectiveOperationException | RuntimeException missing) {
            LOG.info("Deleted files keep their disk space until a garbage collection: {}", missing.toString());
            return channel -> new FileMapping(channel.map(MapMode.READ_ONLY, 0, channel.size()), () -> {});
        }
    }

    private static Mapper intoArenas() throws ReflectiveOperationException {
        Class<?> type = Class.forName("java.lang.foreign.Arena");
        Method open = type.getMethod("ofShared");
        Method close = type.getMethod("close");
        Method map = FileChannel.class.getMethod("map", MapMode.class, long.class, long.class, type);
        Method asBuffer = Class.forName("java.lang.foreign.MemorySegment").getMethod("asByteBuffer");
        return channel -> {
            Object arena = open.invoke(null);
            try {
                Object segment = map.invoke(channel, MapMode.READ_ONLY, 0L, channel.size(), arena);
                return new FileMapping((MappedByteBuffer) asBuffer.invoke(segment), () -> close.invoke(arena));
            } catch (IOException | ReflectiveOperationException | RuntimeException failed) {
                // A shared arena that is not closed exists until the process ends.
                close.invoke(arena);
                throw failed;
            }
        };
    }

    private static Mapper withCleaner() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field instance = type.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        Object unsafe = instance.get(null);
        Method clean = type.getMethod("invokeCleaner", ByteBuffer.class);
        return channel -> {
            MappedByteBuffer memory = channel.map(MapMode.READ_ONLY, 0, channel.size());
            return new FileMapping(memory, () -> clean.invoke(unsafe, memory));
        };
    }

    @Override
    public ByteBuffer buffer() {
        return memory;
    }

    @Override
    public void unmap() {
        try {
            unmapping.run();
        } catch (ReflectiveOperationException rejected) {
            LOG.warn("A file stays mapped until a garbage collection", rejected);
        }
    }
}
