/**
 * Replaces dune 2's cache daemon, in Perl: only `fcntl` locks show dune that a daemon holds the endpoint file, and Node
 * cannot take them; every Debian system has Perl.
 *
 * It also answers dune itself, so that dune never waits for a granary that is busy, stopped or killed: dune blocks
 * until it receives the greeting, ignores SIGTERM meanwhile, and fails when the connection breaks before that.
 *
 * Standard input: `hold NAME ENDPOINTFILE GATEMS`, `drop NAME`. Standard output: `held NAME PORT`, `failed NAME REASON`. When
 * input ends, endpoint files are released at once, connected dunes are served to their end, and a dune that has just
 * read an endpoint file may still connect for a moment.
 *
 * Each dune is passed on over the Unix socket given as argument: a line `NAME`, then its bytes. The granary answers
 * with lines `wait MS` and a line `go`, and then with the bytes for dune. `wait` delays dune for this time from then
 * on; `go` lets dune start before its gate time is over.
 */
export const daemonProxyScript = String.raw`
use strict; use warnings;
use Fcntl qw(:DEFAULT :flock SEEK_SET F_SETLK F_RDLCK);
use Socket; use IO::Handle; use Time::HiRes qw(time);
my ($granary) = @ARGV;
my $most = 16 * 1024 * 1024;   # bytes of one dune that wait for the granary
my $linger = 1;                # seconds that a port outlives its endpoint
$SIG{PIPE} = 'IGNORE'; $SIG{INT} = 'IGNORE'; $SIG{HUP} = 'IGNORE';
STDOUT->autoflush(1); STDIN->blocking(0); STDOUT->blocking(0);
my (%endpoints, %clients, $ended); my ($input, $serial) = ('', 0);

sub hold {
  my ($name, $file, $gate) = @_;
  socket(my $listener, PF_INET, SOCK_STREAM, 0) or return "no socket: $!";
  bind($listener, sockaddr_in(0, INADDR_LOOPBACK)) && listen($listener, 128) or return "no port: $!";
  $listener->blocking(0);
  my ($port) = sockaddr_in(getsockname($listener));
  # Written to another name and renamed: dune must never read a part of it.
  open(my $out, '>', "$file.new") or return "cannot write $file: $!";
  print $out "127.0.0.1:$port"; close($out) or return "cannot write $file: $!";
  open(my $held, '+<', "$file.new") or return "cannot read $file: $!";
  # struct flock of 64-bit Linux: type, whence, start, length, process.
  my $lock = pack('s s x4 q q i x4', F_RDLCK, SEEK_SET, 0, 0, 0);
  fcntl($held, F_SETLK, $lock) or return "cannot lock $file: $!";
  rename("$file.new", $file) or return "cannot name $file: $!";
  $endpoints{$name} = { listener => $listener, held => $held, file => $file, gate => $gate / 1000, port => $port };
  return undef;
}
sub drop {
  my ($endpoint) = @_;
  return if !$endpoint || !$endpoint->{held};
  unlink $endpoint->{file}; close(delete $endpoint->{held});
  $endpoint->{until} = time() + $linger;
}
sub command {
  my ($verb, $name, $file, $gate) = split /\t/, $_[0];
  if ($verb eq 'hold') {
    my $why = hold($name, $file, $gate);
    print STDOUT defined $why ? "failed\t$name\t$why\n" : "held\t$name\t$endpoints{$name}{port}\n";
  } elsif ($verb eq 'drop') { drop($endpoints{$name}); }
}
sub accept_dunes {
  my ($name, $endpoint) = @_;
  while (accept(my $dune, $endpoint->{listener})) {
    $dune->blocking(0);
    my $one = { dune => $dune, gate => time() + $endpoint->{gate}, least => time() + 0.02, said => '',
                out => "$name\n", in => '', line => '' };
    if (!$ended && socket(my $up, PF_UNIX, SOCK_STREAM, 0)) {
      $up->blocking(0);   # a stopped granary with many waiting connections must not block this process
      if (connect($up, sockaddr_un($granary))) { $one->{up} = $up } else { $one->{go} = 1 }
    } else { $one->{go} = 1 }
    $clients{++$serial} = $one;
  }
}
sub greet {
  my ($one) = @_;
  return if $one->{greeted};
  my $now = time();
  my ($mine, $all);
  if ($one->{said} =~ /^\(4:lang19:dune-cache-protocol((?:\(1:\d\d+:\d+\))+)\)/) { $all = $1; $mine = $all =~ /\(1:1\d+:/ }
  return if !defined $all && $now < $one->{gate} && $now < $one->{least};
  return if !$one->{go} && $now < $one->{gate};
  # An unknown protocol version: accept dune's versions, because dune ends without a common one, and ignore the rest.
  if (defined $all && !$mine) { delete $one->{up}; $one->{in} = "(4:lang19:dune-cache-protocol$all)" . $one->{in} }
  else { $one->{in} = '(4:lang19:dune-cache-protocol(1:11:2))' . $one->{in} }
  $one->{greeted} = 1; $one->{said} = '';
}
sub read_dune {
  my ($one) = @_;
  my $size = sysread($one->{dune}, my $bytes, 65536);
  return if !defined $size && ($!{EAGAIN} || $!{EINTR});
  # After its last message dune waits until this side closes.
  if (!$size) { close(delete $one->{dune}); $one->{in} = ''; return }
  $one->{said} .= $bytes if !$one->{greeted} && length($one->{said}) < 4096;
  if ($one->{up}) { $one->{out} .= $bytes; if (length($one->{out}) > $most) { delete $one->{up} } }
}
sub read_granary {
  my ($one) = @_;
  my $size = sysread($one->{up}, my $bytes, 65536);
  return if !defined $size && ($!{EAGAIN} || $!{EINTR});
  if (!$size) { delete $one->{up}; $one->{out} = ''; $one->{go} = 1; return }
  if (!$one->{go}) {
    $one->{line} .= $bytes;
    # If the granary stops here, dune waits for no longer than the last 'wait'.
    while ($one->{line} =~ s/^wait (\d{1,4})\n//) { $one->{gate} = time() + $1 / 1000 if !$one->{greeted} }
    return if $one->{line} !~ s/^go\n//;
    $one->{go} = 1; $bytes = delete $one->{line};
  }
  $one->{in} .= $bytes if $one->{dune};
  if (length($one->{in}) > $most) { delete $one->{up}; $one->{in} = '' }
}
sub flush_to {
  my ($one, $where, $what) = @_;
  return if !$one->{$where} || $one->{$what} eq '';
  my $size = syswrite($one->{$where}, $one->{$what});
  if (defined $size) { substr($one->{$what}, 0, $size, '') }
  elsif (!$!{EAGAIN} && !$!{EINTR}) { delete $one->{$where} if $where eq 'up'; $one->{$what} = '' }
}
while (1) {
  my ($read, $write) = ('', ''); my $now = time(); my $wait = undef;
  vec($read, fileno(STDIN), 1) = 1 if !$ended;
  for my $name (keys %endpoints) {
    my $endpoint = $endpoints{$name};
    if ($endpoint->{until}) {
      if ($endpoint->{until} <= $now) { delete $endpoints{$name}; next }
      my $left = $endpoint->{until} - $now; $wait = $left if !defined $wait || $left < $wait;
    }
    vec($read, fileno($endpoint->{listener}), 1) = 1;
  }
  for my $id (keys %clients) {
    my $one = $clients{$id};
    if ($one->{dune}) { greet($one); flush_to($one, 'dune', 'in') if $one->{greeted} }
    flush_to($one, 'up', 'out');
    if (!$one->{dune} && !$one->{up}) { delete $clients{$id}; next }
    # Only the sending direction is closed: with unread bytes, a full close would be an error before the granary reads the rest.
    if (!$one->{dune} && $one->{out} eq '' && !$one->{shut}) { shutdown($one->{up}, 1); $one->{shut} = 1 }
    # dune has ended, and the granary reads nothing: end the connection after a minute.
    if (!$one->{dune}) { $one->{leave} //= $now + 60; if ($one->{leave} <= $now) { delete $clients{$id}; next } $wait = 1 if !defined $wait || $wait > 1 }
    if ($one->{dune}) {
      vec($read, fileno($one->{dune}), 1) = 1;
      vec($write, fileno($one->{dune}), 1) = 1 if $one->{greeted} && $one->{in} ne '';
      if (!$one->{greeted}) { my $left = $one->{gate} - $now; $left = 0.005 if $left > 0.005; $left = 0 if $left < 0; $wait = $left if !defined $wait || $left < $wait }
    }
    if ($one->{up}) {
      vec($read, fileno($one->{up}), 1) = 1;
      vec($write, fileno($one->{up}), 1) = 1 if $one->{out} ne '';
    }
  }
  last if $ended && !%endpoints && !%clients;
  my $count = select($read, $write, undef, $wait);
  next if $count <= 0;
  for my $one (values %clients) {
    read_dune($one) if $one->{dune} && vec($read, fileno($one->{dune}), 1);
    read_granary($one) if $one->{up} && vec($read, fileno($one->{up}), 1);
  }
  for my $name (keys %endpoints) { accept_dunes($name, $endpoints{$name}) if vec($read, fileno($endpoints{$name}{listener}), 1) }
  if (!$ended && vec($read, fileno(STDIN), 1)) {
    my $size = sysread(STDIN, $input, 65536, length $input);
    if (defined $size && $size == 0) { $ended = 1; drop($_) for values %endpoints }
    while ($input =~ s/^([^\n]*)\n//) { command($1) }
  }
}
`;
