package io.caravan.torture.group;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/**
 * A child process that performs file operations in a directory, and reports the result of each one. Also reports whether
 * the fsync took at least a given number of milliseconds.
 */
final class DiskProbe {
    static final int OLD_BYTES = 4096;

    private DiskProbe() {}

    private interface Call {
        void run() throws IOException;
    }

    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        Path old = directory.resolve("old");
        tell(
                "create",
                () -> open(directory.resolve("new"), StandardOpenOption.CREATE).close());
        try (FileChannel file = open(old, StandardOpenOption.WRITE)) {
            tell("write over", () -> file.write(ByteBuffer.allocate(100), 0));
            tell("write behind", () -> file.write(ByteBuffer.allocate(100), OLD_BYTES - 50));
            tell("append", () -> file.position(OLD_BYTES).write(ByteBuffer.allocate(100)));
            long start = System.nanoTime();
            tell("fsync", () -> file.force(false));
            long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            System.out.println("fsync took the delay: " + (tookMillis >= Integer.parseInt(arguments[1])));
        }
        tell("rename", () -> Files.move(old, directory.resolve("renamed"), StandardCopyOption.ATOMIC_MOVE));
        tell("space", () -> {
            if (Files.getFileStore(directory).getUsableSpace() == 0) {
                throw new IOException("none");
            }
        });
        tell("read", () -> Files.readAllBytes(directory.resolve("kept")));
        tell("elsewhere", () -> Files.write(directory.resolveSibling("elsewhere"), new byte[100]));
    }

    private static FileChannel open(Path file, StandardOpenOption how) throws IOException {
        return FileChannel.open(file, how, StandardOpenOption.WRITE);
    }

    private static void tell(String what, Call call) {
        String outcome = "fine";
        try {
            call.run();
        } catch (IOException failed) {
            String message = String.valueOf(failed.getMessage());
            outcome = message.substring(message.lastIndexOf(": ") + 1).trim();
        }
        System.out.println(what + ": " + outcome);
    }
}
