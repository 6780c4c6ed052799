package io.caravan.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Reserves loopback ports for servers whose port must be known before they start or stay the same after a restart.
 *
 * <p>The ports are below the range from which systems assign ports (from 32,768 in Linux, from 49,152 elsewhere).
 * Therefore, the system assigns none of them to a connection, or to a server that requests any free port.
 *
 * <p>As long as it runs, this process reserves a block of ports by holding the lock of a file in the temporary
 * directory. No other process that uses this class gets one of them. Thread-safe.
 */
public final class FreePorts {
    private static final int FIRST = 10_240;
    private static final int BLOCK = 256;
    private static final int BLOCKS = 80;

    /** The channels that hold the file locks. Closing any channel of a file would release its lock. */
    private static final List<FileChannel> OPENED = new ArrayList<>();

    private static int next;
    private static int end;

    private FreePorts() {}

    /** Returns a port without a listener that this process has not used before. */
    public static synchronized int next() {
        while (true) {
            if (next == end) {
                next = FIRST + BLOCK * newBlock();
                end = next + BLOCK;
            }
            int port = next++;
            if (isFree(port)) {
                return port;
            }
        }
    }

    private static int newBlock() {
        int any = ThreadLocalRandom.current().nextInt(BLOCKS);
        for (int tried = 0; tried < BLOCKS; tried++) {
            int block = (any + tried) % BLOCKS;
            if (isLocked(Path.of(System.getProperty("java.io.tmpdir"), "caravan-ports-" + block + ".lock"))) {
                return block;
            }
        }
        throw new IllegalStateException("other processes have all ports from " + FIRST + " on");
    }

    /** Whether this call has locked the file for this process. */
    private static boolean isLocked(Path file) {
        try {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            OPENED.add(channel);
            return channel.tryLock() != null;
        } catch (IOException | OverlappingFileLockException taken) {
            // Another user, or this class in another class loader, has locked the file.
            return false;
        }
    }

    /** Whether no server listens on a port. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
