package io.caravan.bench.s3;

import io.caravan.bench.Programs;
import io.caravan.bench.WorkDirectory;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code scripts/with-s3}: starts an S3 server and runs a command with it. */
@Command(
        name = "with-s3",
        mixinStandardHelpOptions = true,
        description = {
            "Starts an S3 server on a free port of the loopback address, with an empty bucket '" + WithS3Main.BUCKET
                    + "', runs a command, and stops the server. Exits with the command's status, or with "
                    + WithS3Main.UNAVAILABLE + " when the server cannot run here.",
            "The command gets the server's address in CARAVAN_TEST_S3_ENDPOINT, the bucket in"
                    + " CARAVAN_TEST_S3_BUCKET, and credentials where the AWS SDK expects them."
        },
        footer = {"", "Example:", "  with-s3 moto mvn -pl caravan-server -am test -Dtest=S3EndpointTest"})
final class WithS3Main implements Callable<Integer> {
    static final String BUCKET = "caravan";
    /** The exit status EX_UNAVAILABLE from sysexits.h. */
    static final int UNAVAILABLE = 69;

    @Parameters(index = "0", paramLabel = "SERVER", description = "One of ${COMPLETION-CANDIDATES}.")
    private S3Software software = S3Software.S3PROXY;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "The command to run, with its" + " arguments.")
    private List<String> command = List.of();

    private WithS3Main() {}

    public static void main(String[] arguments) {
        System.exit(Programs.runWithCommand(new WithS3Main(), arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        String missing = software.program().install();
        if (missing != null) {
            System.err.println("with-s3: " + software + " cannot run here: " + missing);
            return UNAVAILABLE;
        }
        try (WorkDirectory work = WorkDirectory.make(null);
                S3Process server = S3Process.start(software, work.path());
                Bucket bucket = new Bucket(server.endpoint(), BUCKET)) {
            bucket.create();
            return run(server);
        }
    }

    private int run(S3Process server) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().putAll(S3Account.environment());
        builder.environment().put("CARAVAN_TEST_S3_ENDPOINT", server.endpoint().toString());
        builder.environment().put("CARAVAN_TEST_S3_BUCKET", BUCKET);
        return builder.start().waitFor();
    }
}
