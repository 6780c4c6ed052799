package io.caravan.torture.hostloss;

import io.caravan.bench.Programs;
import io.caravan.torture.Evidence;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code scripts/host-loss}: simulates the loss of entire hosts, and checks the restores from the archive. */
@Command(
        name = "host-loss",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Repeatedly destroys a whole host, and checks the data that is restored from the archive.",
            "",
            "In each round, a real server archives to a real S3 server while connections append to many documents,"
                    + " trim, delete, and recreate them, and record the time of every reply. At a random moment the server"
                    + " is killed with SIGKILL and its data deleted. `caravan restore` creates a new store from the"
                    + " archive. A server on that store must show each document exactly as it was after one of its"
                    + " changes: values byte for byte, sequences, deletions. Every change that was acknowledged earlier"
                    + " than --archive-after plus --allowance before the kill must be included. The next round continues"
                    + " the load against the new server.",
            "",
            "Prints a line for each round. At the first failure, prints the details, keeps the directory, and exits"
                    + " with status 1. The seed determines the operations of each connection and the moment of the kill,"
                    + " but not how processes interleave."
        },
        footer = {
            "",
            "Examples:",
            "  host-loss                       three hosts, with s3proxy, which needs no installation",
            "  host-loss --s3 moto --faults    with failures between the server and S3",
            "  host-loss --s3 versitygw --kill-restore --rounds 10 --seed 7",
            "  host-loss --lie snapshots_lost  shows that a loss is detected: exits with status 1"
        })
public final class HostLossMain implements Callable<Integer> {

    @Mixin
    private final HostLossOptions options = new HostLossOptions();

    @Mixin
    private final Evidence evidence = new Evidence();

    public static void main(String[] arguments) {
        System.exit(Programs.run(new HostLossMain(), arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.check(evidence);
        String missing = options.s3.program().install();
        if (missing != null) {
            throw new IOException(options.s3 + " cannot run here: " + missing);
        }
        return evidence.run(this::drill);
    }

    private boolean drill(Path work) throws IOException, InterruptedException {
        System.out.println(
                "seed " + evidence.seed() + ", " + options.rounds + " rounds with " + options.s3 + " in " + work);
        options.directory = work;
        return new HostLossDrill(options, evidence.seed(), System.out).run();
    }
}
