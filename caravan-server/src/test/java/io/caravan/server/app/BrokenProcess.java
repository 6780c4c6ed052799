package io.caravan.server.app;

import io.caravan.server.net.FatalErrors;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A program in which a thread fails with the error that the test selects. */
final class BrokenProcess {
    private BrokenProcess() {}

    public static void main(String[] args) throws InterruptedException {
        FatalErrors.haltProcess();
        CountDownLatch never = new CountDownLatch(1);
        Shutdown shutdown = new Shutdown((connections, all) -> never.await(), Duration.ofMillis(200));
        Runtime.getRuntime().addShutdownHook(new Thread(shutdown));
        Throwable problem = switch (args[0]) {
            case "memory" -> new OutOfMemoryError("as a test has it");
            case "caught memory" -> new OutOfMemoryError("as a test has it");
            default -> new StackOverflowError("as a test has it");
        };
        Thread thread = new Thread(
                () -> {
                    if (args[0].startsWith("caught")) {
                        FatalErrors.report(problem);
                    } else if (problem instanceof Error error) {
                        throw error;
                    }
                },
                "a-thread");
        thread.start();
        thread.join();
        System.out.println("continues");
        never.await();
    }
}
