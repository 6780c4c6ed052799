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
 * Ports of the loopback address for servers that are to listen on a port known before they start, or again after they
 * were stopped. They lie below the range that systems take ports from by themselves (from 32,768 on in Linux, 49,152
 * elsewhere), so that no connection, and no server that takes any port, is given one meanwhile. No other process that
 * takes its ports here is given one of this process either, which has a block of ports to itself for as long as it runs:
 * it holds the lock of a file in the temporary directory. Threads may share it.
 */
public final class FreePorts {
    private static final int FIRST = 10_240;
    private static final int BLOCK = 256;
    private static final int BLOCKS = 80;

    /** They keep the locks; to close any of a file would give its lock back. */
    private static final List<FileChannel> OPENED = new ArrayList<>();

    private static int next;
    private static int end;

    private FreePorts() {}

    /** A port that nobody listens on, and that this process has not had before. */
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

    /** Whether it is this process that has just locked the file. */
    private static boolean isLocked(Path file) {
        try {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            OPENED.add(channel);
            return channel.tryLock() != null;
        } catch (IOException | OverlappingFileLockException taken) {
            // By another user, or by this class in another class loader.
            return false;
        }
    }

    /** Whether nobody listens on a port. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
