//! `rekeyscope overhead`: the calculator.

use crate::command::options::OverheadArguments;
use crate::command::output;
use anyhow::Result;
use rekeyscope_ipsec::overhead::{Mode, Plan, Suite, mss};
use rekeyscope_model::text::{Catalogue, Message};
use std::fmt::Write;

/// Inner sizes that are always shown: a bare TCP acknowledgement, and a whole Ethernet packet.
const USUAL: [usize; 2] = [40, 1_500];

pub(crate) fn run(arguments: &OverheadArguments) -> Result<()> {
    let suite = Suite::named(&arguments.suite).map_err(anyhow::Error::msg)?;
    let parts: Vec<&str> = arguments.encap.iter().map(String::as_str).collect();
    let plan = Plan::new(&suite, &parts).map_err(anyhow::Error::msg)?;
    let Some(text) = table(arguments, &plan) else {
        anyhow::bail!(
            "no packet fits an MTU of {}: expected a larger one",
            arguments.mtu
        );
    };
    output::to_stdout(text.as_bytes())
}

fn table(arguments: &OverheadArguments, plan: &Plan) -> Option<String> {
    let largest = plan.largest_inner(arguments.mtu)?;
    let mut out = String::new();
    let t = Catalogue::of(arguments.lang.language());
    let mode = t.word(match plan.mode {
        Mode::Tunnel => "overhead-tunnel-mode",
        Mode::Transport => "overhead-transport-mode",
    });
    let around = if arguments.encap.is_empty() {
        String::new()
    } else {
        format!("{}{}", t.word("comma"), arguments.encap.join(" + "))
    };
    let [v4, v6] = mss(largest).map(|mss| mss.map_or("-".to_owned(), |mss| mss.to_string()));
    let title = Message::new("overhead-title")
        .with("suite", arguments.suite.as_str())
        .with("mode", mode)
        .with("around", around)
        .with("mtu", arguments.mtu.to_string());
    let bytes = |id: &str, n: &str| t.say(&Message::new(id).with("bytes", format!("{n:>6}")));
    let _ = write!(
        out,
        "{}\n\n  {}\n  {}\n  {}\n\n{}\n",
        t.say(&title),
        bytes("overhead-largest", &largest.to_string()),
        bytes("overhead-mss-ipv4", &v4),
        bytes("overhead-mss-ipv6", &v6),
        t.word("overhead-head")
    );
    let mut sizes = [&arguments.inner[..], &USUAL, &[largest]].concat();
    sizes.sort_unstable();
    sizes.dedup();
    for inner in sizes {
        let s = plan.split(inner);
        let path = plan
            .sizes
            .fragments(s.wire, arguments.mtu.checked_sub(plan.below_ip)?)?;
        let fragments = match path.count {
            1 => String::new(),
            count => t.say(&Message::new("overhead-fragments").with("count", count)),
        };
        let _ = writeln!(
            out,
            "{inner:>8}{:>8}{:>7}{:>6}{:>5}{:>8}{:>9}{:>5}{:>10.1} %{fragments}",
            path.bytes,
            // Every further fragment has headers of its own.
            s.outer_headers + path.bytes - s.wire,
            s.esp_header,
            s.iv,
            plan.tunnel_headers,
            s.padding,
            s.icv,
            inner as f64 * 100.0 / path.bytes as f64,
        );
    }
    Some(out)
}
